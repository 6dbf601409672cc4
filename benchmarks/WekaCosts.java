import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import weka.classifiers.CostMatrix;
import weka.classifiers.meta.CostSensitiveClassifier;
import weka.classifiers.trees.J48;
import weka.core.Instances;

/**
 * Learns with Weka's CostSensitiveClassifier over J48, as often as it is asked to: starting Java takes longer than most
 * trees. weka_costs.py starts it and talks to it.
 *
 * <p>Arguments: the options of J48. Each line of the standard input is a task of four fields with tabs between them:
 * "reweight" or "least-cost", the ARFF files to learn from and to test with, and the cost matrix as Weka writes it, like
 * [0.0 1.0; 5.0 0.0]. Each line of the standard output is the answer to one: the size of the tree, the seconds of
 * learning, and the number of the class that every test case was given, with blanks between them.
 */
public final class WekaCosts {
    private static Instances read(String path) throws Exception {
        try (FileReader file = new FileReader(path, StandardCharsets.UTF_8)) {
            Instances cases = new Instances(file);
            cases.setClassIndex(cases.numAttributes() - 1);
            return cases;
        }
    }

    private static String answer(String[] task, String[] options) throws Exception {
        Instances train = read(task[1]);
        Instances test = read(task[2]);
        J48 tree = new J48();
        tree.setOptions(options.clone());  // it empties the array that it is given
        CostSensitiveClassifier learner = new CostSensitiveClassifier();
        learner.setClassifier(tree);
        learner.setCostMatrix(CostMatrix.parseMatlab(task[3]));
        learner.setMinimizeExpectedCost(task[0].equals("least-cost"));
        long start = System.nanoTime();
        learner.buildClassifier(train);
        double seconds = (System.nanoTime() - start) / 1e9;
        StringBuilder line = new StringBuilder();
        // The learner keeps the tree that it was given; it does not learn with a copy.
        line.append((int) tree.measureTreeSize()).append(' ').append(seconds);
        for (int i = 0; i < test.numInstances(); i++) {
            double given = learner.classifyInstance(test.instance(i));
            if (Double.isNaN(given)) {
                throw new IllegalStateException("case " + i + " of " + task[2] + " is given no class");
            }
            line.append(' ').append((int) given);
        }
        return line.toString();
    }

    public static void main(String[] options) throws Exception {
        BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
            System.out.println(answer(line.split("\t"), options));
            System.out.flush();
        }
    }
}
