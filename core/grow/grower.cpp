#include "grow/grower.hpp"

#include <algorithm>
#include <cmath>

#include "grow/case_partition.hpp"
#include "grow/lookahead.hpp"
#include "grow/split_finder.hpp"

namespace worthwhile {

namespace {

template <class Word>
class Grower final : public TreeGrower {
    struct Task {
        int node, depth;
        int block;
        bool visit_all;
    };
    struct SharedBlock {
        std::unique_ptr<Block<Word>> block;
        int users = 0;  // tasks whose lists are in it
    };

    // With look-ahead, this many subtrees are grown apart from each other, whatever the number of threads: the order of the nodes must not
    // depend on it.
    static constexpr std::size_t kSubtrees = 12;

public:
    Grower(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy, bool reusable)
        : data_(data), pricing_(pricing), errors_(errors), policy_(policy), reusable_(reusable), k_(data.n_classes),
          partition_(data, policy.n_threads), root_(partition_.root()), finder_(partition_, data, pricing, errors, policy_) {
        if (policy.sampling.r > 0) lookahead_.emplace(data, pricing, errors, policy_);
    }

    // For subtrees: grows below nodes that others have made.
    Grower(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : data_(data), pricing_(pricing), errors_(errors), policy_(policy), reusable_(false), k_(data.n_classes), partition_(data, 1),
          finder_(partition_, data, pricing, errors, policy_) {
        lookahead_.emplace(data, pricing, errors, policy_);
    }

    Tree grow(Cancellation& cancellation, const LazyCase* lazy) override {
        start({0, pricing_.nothing(), seed_of(policy_.sampling.seed, 0)}, root_, lazy == nullptr);
        while (!tasks_.empty()) {
            if (lookahead_) {
                if (tasks_.size() >= kSubtrees) {
                    grow_subtrees(cancellation);
                    break;
                }
                bring_largest_forward();
            }
            run_task(lazy, cancellation);
        }
        return std::move(tree_);
    }

    void set_policy(const GrowPolicy& policy) override { policy_ = policy; }

private:
    // The path to the root of a tree or subtree.
    struct Path {
        int depth;
        TestSet paid;
        uint64_t seed;
        double work = 1.0;
    };

    void start(Path path, NodeCases<Word>& node, bool visit_all) {
        tree_ = Tree{};
        tree_.n_classes = k_;
        tree_.n_deviations = data_.n_deviations();
        collect_maps();
        tree_.add_leaves(1);
        std::copy(node.class_weights.begin(), node.class_weights.end(), tree_.class_weights(0));
        parent_.assign(1, -1);
        paid_before_ = std::move(path.paid);
        seeds_.assign(1, path.seed);
        work_.assign(1, path.work);
        blocks_.clear();
        free_blocks_.clear();
        tasks_.clear();
        task_ranges_.clear();
        if (finder_.terminal(node.class_weights.data(), path.depth)) return tell(path.work);
        blocks_.push_back({reusable_ ? partition_.copy(node) : std::move(node.block)});
        push_task({0, path.depth, 0, visit_all}, node.ranges.data());
    }

    void run_task(const LazyCase* lazy, Cancellation& cancellation) {
        const Task task = take_task();
        expand(task, lazy, cancellation);
        leave_block(task);
    }

    // The last task; its ranges are in `ranges_`.
    Task take_task() {
        const Task task = tasks_.back();
        tasks_.pop_back();
        ranges_.assign(task_ranges_.end() - partition_.size(), task_ranges_.end());
        task_ranges_.resize(task_ranges_.size() - partition_.size());
        return task;
    }

    void leave_block(const Task& task) {
        if (--blocks_[task.block].users > 0) return;
        blocks_[task.block].block.reset();
        free_blocks_.push_back(task.block);
    }

    void bring_largest_forward() {
        std::size_t largest = 0;
        for (std::size_t i = 1; i < tasks_.size(); ++i)
            if (tree_.weight(tasks_[i].node) > tree_.weight(tasks_[largest].node)) largest = i;
        std::swap(tasks_[largest], tasks_.back());
        std::swap_ranges(task_ranges_.begin() + static_cast<std::ptrdiff_t>(largest * partition_.size()),
                         task_ranges_.begin() + static_cast<std::ptrdiff_t>((largest + 1) * partition_.size()),
                         task_ranges_.end() - partition_.size());
    }

    // Grows what is left below the tasks, each on its own, and puts it together.
    void grow_subtrees(Cancellation& cancellation) {
        struct Start {
            int node;
            Path path;
            NodeCases<Word> cases;
        };
        std::vector<Start> starts;
        while (!tasks_.empty()) {
            const Task task = take_task();
            starts.push_back({task.node,
                              {task.depth, paid_on_path(task.node), seeds_[task.node], policy_.meter ? work_[task.node] : 0.0},
                              partition_.copy_of({blocks_[task.block].block.get(), ranges_.data(), tree_.class_weights(task.node), 0})});
            leave_block(task);
        }
        const int n_threads = std::max(policy_.n_threads, 1);
        std::vector<std::unique_ptr<Grower>> growers(static_cast<std::size_t>(n_threads));
        std::vector<Tree> grown(starts.size());
        cancellable_for(static_cast<int>(starts.size()), n_threads, cancellation, [&](int i, int thread, Cancellation& own) {
            if (!growers[thread]) growers[thread] = std::make_unique<Grower>(data_, pricing_, errors_, policy_);
            grown[i] = growers[thread]->grow_below(std::move(starts[i].path), starts[i].cases, own);
        });
        for (std::size_t i = 0; i < starts.size(); ++i) tree_.graft(starts[i].node, grown[i], n_shared_maps_);
    }

    Tree grow_below(Path path, NodeCases<Word>& node, Cancellation& cancellation) {
        start(std::move(path), node, true);
        while (!tasks_.empty()) run_task(nullptr, cancellation);
        return std::move(tree_);
    }

    // One map "code -> branch" per nominal column and level, shared by all nodes that ask it. Subsets of values, found for one node, come later.
    void collect_maps() {
        map_start_.assign(data_.table.n_columns(), {});
        for (int c = 0; c < data_.table.n_columns(); ++c)
            for (const Level& level : data_.table.columns[c].levels) {
                map_start_[c].push_back(static_cast<int>(tree_.maps.size()));
                tree_.maps.insert(tree_.maps.end(), level.branch_of.begin(), level.branch_of.end());
            }
        n_shared_maps_ = static_cast<int>(tree_.maps.size());
    }

    void push_task(const Task& task, const Range* ranges) {
        ++blocks_[task.block].users;
        tasks_.push_back(task);
        task_ranges_.insert(task_ranges_.end(), ranges, ranges + partition_.size());
    }

    TestSet paid_on_path(int node) const {
        std::vector<int> path;
        for (int at = parent_[node]; at >= 0; at = parent_[at]) path.push_back(tree_.test[at]);
        TestSet paid = paid_before_;
        for (std::size_t i = path.size(); i-- > 0;)  // from the top: what a test costs may depend on those before it
            if (!paid.has(path[i])) pricing_.order(path[i], paid);
        return paid;
    }

    // Splits a node, or leaves it a leaf, and sets the children to work that are worth splitting.
    void expand(const Task& task, const LazyCase* lazy, Cancellation& cancellation) {
        // A copy, because the node table moves when children are added.
        node_weights_.assign(tree_.class_weights(task.node), tree_.class_weights(task.node) + tree_.width());
        const View<Word> view{blocks_[task.block].block.get(), ranges_.data(), node_weights_.data(), tree_.weight(task.node)};
        const TestSet paid = policy_.context ? paid_on_path(task.node) : pricing_.nothing();
        double own = own_work(task.node);
        if (policy_.meter) work_[task.node] -= own;  // the rest is that of the branches
        const Candidate best = choose(task, view, paid, own, cancellation);
        tell(own);
        if (!best.valid) return tell(work_[policy_.meter ? task.node : 0]);

        const Split& split = best.split;
        const int n_branches = split.branches(data_.table), first = tree_.add_leaves(n_branches);
        partition_.divide_weights(view, split, child_weights_);
        std::copy(child_weights_.begin(), child_weights_.end(), tree_.class_weights(first));
        parent_.resize(tree_.size(), task.node);
        if (lookahead_)  // the seed of a node depends on the path to it alone
            for (int b = 0; b < n_branches; ++b) seeds_.push_back(seed_of(seeds_[task.node], static_cast<uint64_t>(b) + 1));
        record(task.node, split, first, n_branches);

        const bool visit_all = task.visit_all || orders_delayed(*lazy, task.node);
        wanted_.assign(n_branches, 0);
        int n_wanted = 0;
        for (int b = 0; b < n_branches; ++b)
            n_wanted += wanted_[b] =
                !finder_.terminal(tree_.class_weights(first + b), task.depth + 1) && (visit_all || visits(*lazy, task.node, b));
        if (policy_.meter) share_work(task.node, first, n_branches);
        if (n_wanted > 0) divide(task, view, split, first, visit_all);
    }

    void tell(double work) const {
        if (policy_.meter) policy_.meter->add(work);
    }

    // A node takes a part of the work that it stands for, and leaves the rest to its branches. All nodes of one depth together take the same
    // time, or with look-ahead time in proportion to the depth that is left, which is taken for the logarithm of the weight.
    double own_work(int node) const {
        if (!policy_.meter) return 0.0;
        const double depth = std::log2(std::max(tree_.weight(node), 1.0)) + 1;
        return work_[node] * std::min(lookahead_ ? 2 / (depth + 1) : 1 / depth, 1.0);
    }

    void share_work(int node, int first, int n_branches) {
        double done = 0;
        work_.resize(tree_.size(), 0.0);
        for (int b = 0; b < n_branches; ++b) {
            const double part = work_[node] * (tree_.weight(node) > 0 ? tree_.weight(first + b) / tree_.weight(node) : 1.0 / n_branches);
            if (wanted_[b])
                work_[first + b] = part;
            else
                done += part;
        }
        tell(done);
    }

    // With a look-ahead, as long as there is time for it; then greedily, and in the end not at all.
    Candidate choose(const Task& task, const View<Word>& view, const TestSet& paid, double& work, Cancellation& cancellation) {
        if (!lookahead_) return finder_.best(view, paid, task.depth, cancellation);
        if (const auto found = lookahead_->best(partition_, finder_, view, paid, task.depth, seeds_[task.node], work, cancellation))
            return *found;
        if (Clock::now() >= policy_.sampling.last_moment) return {};
        return finder_.best(view, paid, task.depth, cancellation);
    }

    void record(int node, const Split& split, int first, int n_branches) {
        tree_.test[node] = split.column;
        tree_.first_child[node] = first;
        tree_.n_children[node] = n_branches;
        if (data_.table.columns[split.column].numeric()) {
            // The case that a lazy tree is grown for may lie between the middle and the final threshold, and must go the way that it will walk.
            tree_.threshold[node] = reusable_ ? partition_.largest_up_to(root_, split.column, split.middle()) : split.middle();
        } else {
            tree_.map_start[node] = split.subset ? static_cast<int>(tree_.maps.size()) : map_start_[split.column][split.level];
            if (split.subset) tree_.maps.insert(tree_.maps.end(), split.subset->branch_of.begin(), split.subset->branch_of.end());
            tree_.map_size[node] = data_.table.columns[split.column].n_values;
        }
    }

    int goes_to(const LazyCase& lazy, int node) const { return tree_.branch(node, lazy.cases->columns[tree_.test[node]], lazy.row); }

    // Below a delayed test all of the subtree is visited already, so that what was paid on the path does not matter.
    bool orders_delayed(const LazyCase& lazy, int node) const {
        return goes_to(lazy, node) >= 0 && pricing_.orders_delayed(tree_.test[node], pricing_.nothing());
    }

    bool visits(const LazyCase& lazy, int node, int b) const {
        const int branch = goes_to(lazy, node);
        return branch == b || branch < 0;
    }

    void divide(const Task& task, const View<Word>& view, const Split& split, int first, bool visit_all) {
        std::vector<NodeCases<Word>> own;
        if (split.complete)
            partition_.divide_in_place(view, split, wanted_, child_ranges_);
        else
            own = partition_.make_children(view, split, wanted_);
        for (int b = 0; b < static_cast<int>(wanted_.size()); ++b) {
            if (!wanted_[b]) continue;
            Task child{first + b, task.depth + 1, task.block, visit_all};
            if (split.complete) {
                push_task(child, child_ranges_.data() + static_cast<std::size_t>(b) * partition_.size());
            } else {
                child.block = keep(std::move(own[b].block));
                push_task(child, own[b].ranges.data());
            }
        }
    }

    int keep(std::unique_ptr<Block<Word>> block) {
        if (free_blocks_.empty()) {
            free_blocks_.push_back(static_cast<int>(blocks_.size()));
            blocks_.emplace_back();
        }
        const int slot = free_blocks_.back();
        free_blocks_.pop_back();
        blocks_[slot].block = std::move(block);
        return slot;
    }

    const TrainingSet& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    GrowPolicy policy_;
    const bool reusable_;
    const int k_;
    CasePartition<Word> partition_;
    NodeCases<Word> root_;
    TestSet paid_before_{0};  // on the way to the root of this tree
    SplitFinder<Word> finder_;
    std::optional<Lookahead<Word>> lookahead_;

    Tree tree_;
    std::vector<int> parent_;
    std::vector<uint64_t> seeds_;  // by node, for the look-ahead
    std::vector<double> work_;     // by node, for the meter: the share of all work at it and below
    std::vector<std::vector<int>> map_start_;
    int n_shared_maps_ = 0;
    std::vector<Task> tasks_;
    std::vector<Range> task_ranges_;  // of all tasks, one after the other
    std::vector<SharedBlock> blocks_;
    std::vector<int> free_blocks_;
    std::vector<Range> ranges_, child_ranges_;
    std::vector<double> node_weights_, child_weights_;
    std::vector<uint8_t> wanted_;  // by branch: it will be split further
};

// Calls work(a word that the lists of these cases fit into).
template <class Work>
auto with_word(const TrainingSet& data, Work work) {
    return Packing(data.n_classes).fits(data.table.n_cases, 32) ? work(uint32_t{}) : work(uint64_t{});
}

}  // namespace

std::unique_ptr<TreeGrower> make_grower(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy,
                                        bool reusable) {
    return with_word(data, [&](auto word) -> std::unique_ptr<TreeGrower> {
        return std::make_unique<Grower<decltype(word)>>(data, pricing, errors, policy, reusable);
    });
}

std::vector<double> sample_trees(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy, int n,
                                 Cancellation& cancellation) {
    return with_word(data, [&](auto word) {
        using Word = decltype(word);
        const NodeCases<Word> root = CasePartition<Word>(data, 1).root();
        Sampler<Word> sampler(data, pricing, errors, policy);
        std::vector<double> found;
        for (int i = 0; i < n; ++i) {
            Random random(seed_of(policy.sampling.seed, static_cast<uint64_t>(i)));
            const bool greedy = i == 0 && policy.sampling.greedy_first;
            const SampleValue value = sampler.sample(root, pricing.nothing(), 0, 0, greedy ? nullptr : &random, cancellation);
            found.push_back(policy.sampling.by_size ? value.leaves : value.total() / root.weight());
        }
        return found;
    });
}

namespace {

// What each answer costs a case of a node on average; an empty node has the costs of its parent.
void set_answer_costs(Tree& tree, const ErrorCosts& errors) {
    const std::size_t n_answers = static_cast<std::size_t>(errors.n_answers);
    tree.answer_costs.assign(static_cast<std::size_t>(tree.size()) * n_answers, 0.0);
    const auto costs = [&](int node) { return tree.answer_costs.data() + static_cast<std::size_t>(node) * n_answers; };
    for (int node = 0; node < tree.size(); ++node) {
        if (const double weight = tree.weight(node); weight > 0) {
            errors.of_all(tree.class_weights(node), costs(node));
            for (std::size_t a = 0; a < n_answers; ++a) costs(node)[a] /= weight;
        }
        for (int b = 0; b < tree.n_children[node]; ++b) std::copy_n(costs(node), n_answers, costs(tree.first_child[node] + b));
    }
}

}  // namespace

void assign_answers(Tree& tree, const ErrorCosts& errors, AnswerPolicy policy, double reject_below) {
    const bool may_reject = reject_below > 0 && policy == AnswerPolicy::majority;
    for (int node = 0; node < tree.size(); ++node) {
        const double* weights = tree.class_weights(node);
        if (node == 0 || tree.weight(node) > 0) {
            int answer = errors.best_answer(weights, policy);
            if (may_reject && weights[answer] < (reject_below - 1e-9) * tree.weight(node)) answer = errors.reject_answer(weights, answer);
            tree.answer[node] = answer;
        }
        for (int b = 0; b < tree.n_children[node]; ++b) tree.answer[tree.first_child[node] + b] = tree.answer[node];
    }
    if (errors.by_case) set_answer_costs(tree, errors);
}

}  // namespace worthwhile
