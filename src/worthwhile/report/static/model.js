// Prices and routes one case, from the JSON of a saved model (docs/tree-format.md), by the same rules as Python. Nothing
// here touches the page.

const labelText = (label) => (typeof label === "boolean" ? (label ? "True" : "False") : String(label));

// Labels are the same if they are equal as numbers or booleans, otherwise if they are equal as strings.
const sameLabel = (a, b) =>
  typeof a !== "string" && typeof b !== "string" ? Number(a) === Number(b) : labelText(a) === labelText(b);

const union = (...sets) => new Set(sets.flatMap((set) => [...set]));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

class Prices {
  constructor(columns, costs) {
    const tests = costs.tests || {};
    const entries = columns.map(({ name }) => {
      const entry = Object.hasOwn(tests, name) ? tests[name] : 0;
      return typeof entry === "number" ? { price: entry } : entry;
    });
    const position = new Map(columns.map(({ name }, column) => [name, column]));
    this.marginal = entries.map((entry) => entry.price);
    this.group = entries.map((entry) => entry.group ?? null);
    this.delayed = entries.map((entry) => Boolean(entry.delayed));
    this.groupPrice = new Map(Object.entries(costs.groups || {}));
    const requires = entries.map((entry) => (entry.requires || []).map((name) => position.get(name)));
    this.closures = columns.map((_, test) => {
      const found = new Set([test]);
      for (const at of found) for (const needed of requires[at]) found.add(needed);
      return found;
    });
  }

  closure(tests) {
    return union(...[...tests].map((test) => this.closures[test]));
  }

  // The price of `charged` after `paid`: each test's own price and each group's common price are charged once.
  price(charged, paid = new Set()) {
    const fresh = [...charged].filter((test) => !paid.has(test));
    const paidGroups = new Set([...paid].map((test) => this.group[test]));
    const groups = new Set(fresh.map((test) => this.group[test]).filter((g) => g !== null && !paidGroups.has(g)));
    return sum(fresh.map((test) => this.marginal[test])) + sum([...groups].map((group) => this.groupPrice.get(group)));
  }

  ordersDelayed(test, paid) {
    return [...this.closures[test]].some((t) => this.delayed[t] && !paid.has(t));
  }
}

class Model {
  constructor(content) {
    const tree = content.tree || content;
    this.columns = tree.columns;
    this.classes = tree.classes;
    this.leastCost = tree.answer === "least-cost";
    this.position = new Map(tree.columns.map(({ name }, column) => [name, column]));
    this.prices = new Prices(tree.columns, tree.costs || {});
    this.readErrors(tree.costs?.errors ?? 1);
    this.nodes = tree.nodes.map((node) => this.readNode(node));
    this.addShares();
  }

  // errors[truth][answer]; the answers are the classes, then the reject answers.
  readErrors(errors) {
    const classes = this.classes;
    if (typeof errors === "number") {
      this.answers = [...classes];
      this.errors = classes.map((_, truth) => classes.map((__, answer) => (truth === answer ? 0 : errors)));
    } else {
      const truths = errors.map((row) => row[0]);
      const rejects = errors.map((row) => row[1]).filter((answer, i, all) =>
        !truths.some((truth) => sameLabel(truth, answer)) && all.findIndex((a) => sameLabel(a, answer)) === i);
      this.answers = [...classes, ...rejects];
      this.errors = classes.map((truth) => this.answers.map((answer) =>
        errors.find((row) => sameLabel(row[0], truth) && sameLabel(row[1], answer))[2]));
    }
    this.largest = Math.max(0, ...this.errors.flat().map(Math.abs));
  }

  readNode(content) {
    const node = {
      test: -1,
      children: content.children || [],
      weights: content.weights,
      weight: sum(content.weights),
      // Where a case with a missing value goes depends on the weights that the tree was grown from.
      grown: content.believed || content.weights,
      probabilities: content.probabilities,
      answer: this.answers.findIndex((answer) => sameLabel(answer, content.answer)),
    };
    if (content.test === undefined) return node;
    node.test = this.position.get(content.test);
    if (content.branches === undefined) node.threshold = content.threshold;
    else node.branchOf = new Map(content.branches.flatMap((values, b) => values.map((value) => [value, b])));
    return node;
  }

  divided(node, weight) {
    const each = node.children.map((child) => weight(this.nodes[child]));
    return each.map((own) => (sum(each) > 0 ? own / sum(each) : 1 / each.length));
  }

  // Adds the class shares of each node, taken from the nearest node with training cases at or above it, and the share of
  // cases per branch.
  addShares() {
    const k = this.classes.length;
    const addTo = (at, above) => {
      const node = this.nodes[at];
      node.source = node.weight > 0 ? node : above;
      const byClass = this.classes.map((_, c) => (node.answer < k ? Number(node.answer === c) : 1 / k));
      const shares = (weights) => weights.map((weight) => weight / sum(weights));
      node.votes = node.source ? shares(node.source.grown) : byClass; // what majority answers are made from
      node.shares = node.probabilities || (node.source ? shares(node.source.weights) : byClass);
      node.branchShares = this.divided(node, (child) => sum(child.grown)); // of a case with a missing value
      node.frequencies = this.divided(node, (child) => child.weight);
    };
    addTo(0, null);
    const todo = [0];
    while (todo.length) {
      const at = todo.pop();
      for (const child of this.nodes[at].children) {
        addTo(child, this.nodes[at].source);
        todo.push(child);
      }
    }
  }

  // The branch of a value at a node; -1 if the value is unavailable (`null`) or has no branch.
  branch(node, value) {
    if (value === null) return -1;
    return node.branchOf ? node.branchOf.get(value) ?? -1 : Number(!(value <= node.threshold));
  }

  *below(at) {
    const todo = [at];
    while (todo.length) {
      const next = todo.pop();
      yield next;
      todo.push(...this.nodes[next].children);
    }
  }

  errorCost(shares, answer) {
    return sum(shares.map((share, truth) => share * this.errors[truth][answer]));
  }

  bestAnswer(shares, votes) {
    if (this.leastCost) return this.leastAnswer(shares);
    let best = 0;
    votes.forEach((vote, c) => { if (vote > votes[best] + 1e-9 * sum(votes)) best = c; });
    return best;
  }

  leastAnswer(shares) {
    const costs = this.answers.map((_, answer) => this.errorCost(shares, answer));
    let best = 0;
    costs.forEach((cost, answer) => { if (cost < costs[best] - 1e-9 * sum(shares) * this.largest) best = answer; });
    return best;
  }

  // Expected price and error cost of continuing from a position if all values are available; null if a known value has
  // no branch there, or the tree has no training weights.
  expectedCost(known, position, charged) {
    const walk = new Walk(this, known);
    const costs = new Map();
    const todo = [{ at: position.node, paid: position.paid, entered: false }];
    const priced = new Map();
    while (todo.length) {
      const visit = todo.pop();
      const node = this.nodes[visit.at];
      const asked = node.test >= 0 && !known.has(node.test);
      let branches = [];
      if (asked) branches = node.frequencies.map((share, b) => [b, share]).filter(([, share]) => share > 0);
      else if (node.test >= 0) branches = [[this.branch(node, known.get(node.test)), 1]];
      if (!visit.entered) {
        if (branches.some(([b]) => b < 0)) return null;
        if (asked && !node.children.some((child) => this.nodes[child].weight > 0)) return null;
        const { fresh } = node.test < 0 ? { fresh: new Set() } : walk.order(visit.at, visit.paid);
        priced.set(visit.at, this.prices.price(fresh, union(charged, visit.paid)));
        todo.push({ ...visit, entered: true });
        for (const [b] of branches) todo.push({ at: node.children[b], paid: union(visit.paid, fresh), entered: false });
      } else if (node.test < 0) costs.set(visit.at, this.errorCost(node.shares, node.answer));
      else costs.set(visit.at, priced.get(visit.at) + sum(branches.map(([b, share]) => share * costs.get(node.children[b]))));
    }
    return costs.get(position.node);
  }

  // What to do next for a case with the values `known` (Map: column -> number, string or null for unavailable).
  advise(known) {
    const walk = new Walk(this, known);
    const withBranch = (test, value) => this.nodes.every((node) => node.test !== test || this.branch(node, value) >= 0);
    const available = [...known].filter(([test, value]) => this.usable(test, value) && withBranch(test, value)).map(([test]) => test);
    const charged = union(walk.charged, this.prices.closure(available)); // a known value was paid for
    const mixed = (name) => this.classes.map((_, c) =>
      sum(walk.positions.map((position) => position.share * this.nodes[position.node][name][c])));
    const shares = mixed("shares");
    const advice = { positions: walk.positions, spent: this.prices.price(charged), shares, price: 0, commits: [] };
    const position = walk.positions.find(({ node }) => this.nodes[node].test >= 0);
    if (!position) {
      const [only] = walk.positions;
      const answer = walk.positions.length === 1 ? this.nodes[only.node].answer : this.bestAnswer(shares, mixed("votes"));
      return { ...advice, test: null, answer, errorCost: this.errorCost(shares, answer) };
    }
    const { test } = this.nodes[position.node];
    const order = walk.orderTogether(test);
    const trained = this.nodes[0].weight > 0;
    const stop = trained ? this.leastAnswer(shares) : null;
    const whole = walk.positions.length === 1 && [...known].every(([test, value]) => this.usable(test, value));
    return {
      ...advice,
      stop: stop === null ? null : { answer: stop, cost: this.errorCost(shares, stop) },
      goOnCost: trained && whole ? this.expectedCost(known, position, charged) : null,
      test,
      nodes: order.nodes,
      answer: null,
      price: this.prices.price(order.fresh, charged),
      commits: order.commits.filter((t) => !charged.has(t)),
      // Tests that the price includes only because this one requires them.
      included: [...order.fresh].filter((t) => t !== test && !charged.has(t) && !order.commits.includes(t)),
    };
  }

  usable(test, value) {
    return value !== null && (this.columns[test].kind === "numeric" || this.columns[test].values.includes(value));
  }
}

// The path of a case: which tests are charged, and the nodes it is at. A case with an unavailable value follows all
// branches and is at several nodes, each with a share of it.
class Walk {
  constructor(model, known) {
    Object.assign(this, { model, known, charged: new Set(), positions: [] });
    const todo = [{ node: 0, share: 1, paid: new Set() }];
    while (todo.length) {
      const position = this.descend(todo.pop());
      const node = model.nodes[position.node];
      if (!this.isKnown(node)) {
        this.positions.push(position);
        continue;
      }
      const branches = node.branchShares.map((share, b) => ({ share, b })).filter((branch) => branch.share > 0);
      branches.sort((one, other) => one.share - other.share || other.b - one.b); // the largest is last: followed first
      for (const { share, b } of branches) {
        todo.push({ node: node.children[b], share: position.share * share, paid: position.paid });
      }
    }
  }

  isKnown(node) {
    return this.known.has(node.test);
  }

  branch(node) {
    return this.model.branch(node, this.known.get(node.test));
  }

  descend({ node: at, share, paid }) {
    for (let node = this.model.nodes[at]; this.isKnown(node); node = this.model.nodes[at]) {
      const branch = this.branch(node);
      if (branch < 0) break;
      const { fresh } = this.order(at, paid);
      paid = union(paid, fresh);
      this.charged = union(this.charged, fresh);
      at = node.children[branch];
    }
    return { node: at, share, paid };
  }

  // The tests charged when the test of a node is ordered, and the other tests that are ordered with it.
  order(at, paid) {
    const { model } = this;
    const { test } = model.nodes[at];
    if (paid.has(test)) return { fresh: new Set(), commits: [] };
    const ordered = new Set([test]);
    if (model.prices.ordersDelayed(test, paid)) {
      for (const below of model.below(at)) {
        const node = model.nodes[below];
        if (node.test >= 0 && (!this.isKnown(node) || this.branch(node) >= 0)) ordered.add(node.test);
      }
    }
    const commits = [...ordered].filter((t) => t !== test && !paid.has(t)).sort((a, b) => a - b);
    return { fresh: model.prices.closure(ordered), commits };
  }

  // The same for all positions that need this test: they share one order.
  orderTogether(test) {
    const positions = this.positions.filter(({ node }) => this.model.nodes[node].test === test);
    const orders = positions.map(({ node, paid }) => this.order(node, paid));
    const commits = [...union(...orders.map((order) => order.commits))].sort((a, b) => a - b);
    return { fresh: union(...orders.map((order) => order.fresh)), commits, nodes: positions.map(({ node }) => node) };
  }
}
