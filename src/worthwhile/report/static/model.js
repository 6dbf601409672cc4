// Prices and routes one case, from the JSON of a saved model (docs/tree-format.md), by the same rules as Python. Nothing
// here touches the page.

const labelText = (label) => (typeof label === "boolean" ? (label ? "True" : "False") : String(label));

// Labels are the same if they are equal as numbers or booleans, otherwise if they are equal as strings.
const sameLabel = (a, b) =>
  typeof a !== "string" && typeof b !== "string" ? Number(a) === Number(b) : labelText(a) === labelText(b);

const union = (...sets) => new Set(sets.flatMap((set) => [...set]));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const COMPARISON = /^\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*$/i;
const COMPARE = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };

// A condition of a surcharge on the value of a column: one of some values, or a comparison with a number.
class Condition {
  constructor(column, given) {
    const found = typeof given === "string" ? given.match(COMPARISON) : null;
    this.column = column;
    this.compare = found && ((value) => COMPARE[found[1]](value, Number(found[2])));
    this.values = [given].flat();
    this.text = found ? `${found[1]} ${Number(found[2])}` : this.values.map(labelText).join(" or ");
    this.isWord = !found && this.values.some((value) => typeof value === "string");
  }

  holds(value) {
    if (this.compare) return this.compare(value);
    return this.values.some((own) => (typeof value === "number" ? value === Number(own) : value === labelText(own)));
  }
}

// What a case is charged for is a set of items: tests by column, behind them surcharges, behind these the time that the case
// waited for a test, again by column.
class Prices {
  constructor(columns, costs, classes, cap) {
    const tests = costs.tests || {};
    const entries = columns.map(({ name }) => {
      const entry = Object.hasOwn(tests, name) ? tests[name] : 0;
      return typeof entry === "number" ? { price: entry } : entry;
    });
    const position = new Map(columns.map(({ name }, column) => [name, column]));
    const columnsOf = (names) => (names || []).map((name) => position.get(name));
    this.cap = cap ?? Infinity;
    this.groups = entries.map((entry) => [entry.group ?? []].flat());
    this.groupPrice = new Map(Object.entries(costs.groups || {}));
    this.delayed = entries.map((entry) => Boolean(entry.delayed));
    const points = typeof costs.waiting === "number" ? [[0, 0], [1, costs.waiting]] : costs.waiting || [];
    this.waiting = points.length && points.at(-1)[1] > 0 ? points : []; // what waiting costs; empty: nothing
    this.wait = entries.map((entry) => (this.waiting.length && entry.wait) || 0);
    const requires = entries.map((entry) =>
      columnsOf([...(entry.requires || []), ...(entry.surcharges || []).flatMap(({ where }) => Object.keys(where || {}))]));
    this.closures = columns.map((_, test) => {
      const found = new Set([test]);
      for (const at of found) for (const needed of requires[at]) found.add(needed);
      return found;
    });
    this.surcharges = entries.flatMap((entry, test) => (entry.surcharges || []).map((given) => ({
      test,
      amount: given.amount,
      // The index of its class; undefined: it is for all classes, -1: for one that the model does not know.
      truth: given.truth === undefined ? undefined : classes.findIndex((label) => labelText(label) === labelText(given.truth)),
      after: columnsOf(given.after).filter((before) => !this.closures[test].has(before)),
      // Of these one is enough; undefined: none is needed.
      afterAny: given.after_any && columnsOf(given.after_any).every((before) => !this.closures[test].has(before))
        ? columnsOf(given.after_any) : undefined,
      conditions: [
        ...Object.entries(given.where || {}).map(([name, condition]) => new Condition(position.get(name), condition)),
        ...(given.result === undefined ? [] : [new Condition(test, given.result)]),
      ],
      given,
    })));
    this.firstSurcharge = columns.length;
    this.firstWait = columns.length + this.surcharges.length;
    this.amounts = [...entries.map((entry) => entry.price), ...this.surcharges.map(({ amount }) => amount)];
  }

  closure(tests) {
    return union(...[...tests].map((test) => this.closures[test]));
  }

  tests(items) {
    return [...items].filter((item) => item < this.firstSurcharge);
  }

  // What is charged once these tests were ordered together: they and what they require, their surcharges, and the wait for
  // the slowest.
  order(tests, before) {
    const fresh = [...this.closure(tests)].filter((test) => !before.has(test)).sort((a, b) => a - b);
    const items = union(before, fresh);
    const own = new Set(fresh);
    this.surcharges.forEach(({ test, after, afterAny }, s) => {
      const applies = after.every((other) => before.has(other)) && (!afterAny || afterAny.some((other) => before.has(other)));
      if (own.has(test) && applies) items.add(this.firstSurcharge + s);
    });
    const longest = Math.max(0, ...fresh.map((test) => this.wait[test]));
    if (longest > 0) items.add(this.firstWait + fresh.find((test) => this.wait[test] === longest));
    return items;
  }

  waited(items) {
    return sum([...items].filter((item) => item >= this.firstWait).map((item) => this.wait[item - this.firstWait]));
  }

  // What it costs to wait for so long in all; after its last point the curve goes on with its last slope.
  waitingPrice(time) {
    const { waiting } = this;
    if (!waiting.length) return 0;
    const next = waiting.findIndex(([late], i) => i > 0 && time <= late);
    const i = next < 0 ? waiting.length - 1 : next;
    const [[early, low], [late, high]] = [waiting[i - 1], waiting[i]];
    return low + (high - low) * ((time - early) / (late - early));
  }

  // The price of `charged` after `paid`: each test, each surcharge and each group's common price is charged once.
  price(charged, paid = new Set(), amounts = this.amounts) {
    const fresh = [...charged].filter((item) => !paid.has(item));
    const paidGroups = new Set(this.tests(paid).flatMap((test) => this.groups[test]));
    const groups = new Set(this.tests(fresh).flatMap((test) => this.groups[test]).filter((group) => !paidGroups.has(group)));
    return sum(fresh.filter((item) => item < this.firstWait).map((item) => amounts[item])) +
      sum([...groups].map((group) => this.groupPrice.get(group))) +
      this.waitingPrice(this.waited(union(charged, paid))) - this.waitingPrice(this.waited(paid));
  }

  // The most that a set of items can cost a case, whatever its class and its values.
  most(charged) {
    const byClass = new Map();
    let total = 0;
    this.surcharges.forEach(({ truth, amount }, s) => {
      if (!charged.has(this.firstSurcharge + s) || amount < 0) return;
      if (truth === undefined) total += amount;
      else byClass.set(truth, (byClass.get(truth) || 0) + amount);
    });
    const rest = [...charged].filter((item) => item < this.firstSurcharge || item >= this.firstWait);
    return total + Math.max(0, ...byClass.values()) + this.price(rest);
  }

  withinCap(charged) {
    return this.cap === Infinity || this.most(charged) <= this.cap * (1 + 1e-12);
  }

  // What each of these tests adds to the price of `charged`, in this order: the first test of a group pays its common price,
  // a surcharge belongs to its test, and waiting to the test that was waited for. `surcharges` and `waiting` are parts of `price`.
  items(order, charged, paid, amounts) {
    const soFar = new Set(paid);
    return new Map(order.filter((test) => charged.has(test) && !paid.has(test)).map((test) => {
      const surcharges = this.surcharges.map((own, s) => ({ ...own, item: this.firstSurcharge + s }))
        .filter((own) => own.test === test && charged.has(own.item));
      const wait = charged.has(this.firstWait + test) ? this.wait[test] : 0;
      const own = [test, ...surcharges.map(({ item }) => item), ...(wait ? [this.firstWait + test] : [])];
      const before = this.waited(soFar);
      const found = {
        price: this.price(own, soFar, amounts),
        surcharges: surcharges.map((one) => ({ ...one, charged: amounts[one.item] })).filter((one) => one.charged !== 0),
        wait,
        waiting: this.waitingPrice(before + wait) - this.waitingPrice(before),
      };
      own.forEach((item) => soFar.add(item));
      return [test, found];
    }));
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
    this.mayStop = tree.may_stop !== false;
    this.position = new Map(tree.columns.map(({ name }, column) => [name, column]));
    this.prices = new Prices(tree.columns, tree.costs || {}, tree.classes, tree.cap);
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
      answerCosts: content.answer_costs || [], // where errors cost each case something else
      expected: content.surcharges, // what each surcharge adds on average for a case that reaches the node
      commits: Boolean(content.commits),
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
      node.mixed = [...node.shares, ...node.answerCosts];
      node.expected ||= this.prices.surcharges.map(({ truth, amount }) => amount * this.likely(truth, node.shares));
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

  // Shares of the classes; behind them, where errors cost each case something else, what each answer is expected to cost.
  errorCost(shares, answer) {
    if (shares.length > this.classes.length) return shares[this.classes.length + answer];
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
    costs.forEach((cost, answer) => { if (cost < costs[best] - 1e-9 * sum(shares.slice(0, this.classes.length)) * this.largest) best = answer; });
    return best;
  }

  // Adds a share of a node's classes to a mixture.
  mixed(mixture, node, share, kind = "mixed") {
    return mixture.map((sum, c) => sum + share * this.nodes[node][kind][c]);
  }

  mixture(parts, kind = "mixed") {
    return parts.reduce((sum, { node, share }) => this.mixed(sum, node, share, kind), this.nodes[0][kind].map(() => 0));
  }

  answerCost(shares) {
    return this.errorCost(shares, this.bestAnswer(shares, shares.slice(0, this.classes.length)));
  }

  // What to do next for a case with the values `known` (Map: column -> number, string or null for unavailable).
  advise(known) {
    const walk = new Walk(this, known);
    const withBranch = (test, value) => this.nodes.every((node) => node.test !== test || this.branch(node, value) >= 0);
    const available = [...known].filter(([test, value]) => this.usable(test, value) && withBranch(test, value)).map(([test]) => test);
    const charged = union(walk.charged, this.prices.closure(available)); // a known value was paid for
    const mixture = this.mixture(walk.parts), shares = mixture.slice(0, this.classes.length);
    const trained = this.nodes[0].weight > 0;
    const amounts = this.amounts(known, shares, walk.parts);
    const spent = this.prices.price(charged, new Set(), amounts);
    const advice = { positions: walk.parts, spent, charged, amounts, shares, price: 0, waits: 0, commits: [] };
    if (walk.waiting === null) {
      const answer = walk.divided ? this.bestAnswer(mixture, this.mixture(walk.parts, "votes")) : this.nodes[walk.parts[0].node].answer;
      const rejected = trained ? walk.rejected : null;
      const stopped = rejected || this.prices.cap === Infinity ? undefined : walk.parts.find((part) => walk.testAt(part) >= 0);
      const capped = stopped ? walk.testAt(stopped) : null; // a test that the cap does not allow
      return { ...advice, test: null, answer, errorCost: this.errorCost(mixture, answer), rejected, capped };
    }
    const test = walk.waiting;
    const { ordered, commits } = walk.order(test, walk.parts, walk.charged, (t) => known.has(t));
    const stop = trained ? this.leastAnswer(mixture) : null;
    return {
      ...advice,
      stop: stop === null ? null : { answer: stop, cost: this.errorCost(mixture, stop) },
      laterAnswers: walk.laterAnswers(),
      goOnCost: trained ? walk.costOfGoingOn(charged) : null,
      test,
      nodes: walk.parts.map(({ node }) => node).filter((node) => this.nodes[node].test === test),
      answer: null,
      price: this.prices.price(ordered, charged, amounts),
      waits: this.prices.waited(ordered) - this.prices.waited(charged),
      commits: commits.filter((t) => !charged.has(t)),
      delayed: this.prices.ordersDelayed(test, walk.charged),
      // Every test of the order: this one, those it commits to, and what they require.
      order: this.prices.items([...union([test], commits, this.prices.tests(ordered).sort((a, b) => a - b))], ordered, charged, amounts),
    };
  }

  // The price of every test and the amount of every surcharge for a case, as far as it is known: a surcharge by class by the
  // class shares, one by a result that is not known yet by what it is expected to add where the case stands.
  amounts(known, shares, parts) {
    const { prices } = this;
    const added = prices.surcharges.map(({ truth, amount, conditions }, s) => {
      const held = conditions.map((condition) => {
        const value = known.get(condition.column);
        return value === undefined ? null : this.usable(condition.column, value) && condition.holds(value);
      });
      if (held.includes(false)) return 0;
      if (!held.includes(null)) return amount * this.likely(truth, shares);
      return sum(parts.map(({ node, share }) => share * this.nodes[node].expected[s]));
    });
    return [...prices.amounts.slice(0, prices.firstSurcharge), ...added];
  }

  // How likely a case has the class of a surcharge.
  likely(truth, shares) {
    return truth === undefined ? 1 : shares[truth] ?? 0;
  }

  usable(test, value) {
    return value !== null && (this.columns[test].kind === "numeric" || this.columns[test].values.includes(value));
  }
}

// The path of a case: which tests are charged, and where it stands. A case with an unavailable test is divided: it follows
// all branches, a share in each. From then on, and where such a test is known to lie below, it does a test only if that
// is expected to pay (docs/design/pricing.md).
class Walk {
  constructor(model, known) {
    Object.assign(this, { model, known, charged: new Set(), seen: new Set(), waiting: null, rejected: null });
    this.parts = [{ node: 0, share: 1 }];
    this.mayStop = model.mayStop && model.nodes[0].weight > 0;
    this.unavailable = new Set([...known].filter(([test, value]) => !model.usable(test, value)).map(([test]) => test));
    while (this.advance()) {
      const test = this.testThatPays();
      if (test === null || !this.ask(test)) break;
    }
  }

  get divided() {
    return this.parts.length > 1;
  }

  testAt(part) {
    return this.model.nodes[part.node].test;
  }

  branch(at) {
    const node = this.model.nodes[at];
    return this.model.branch(node, this.known.get(node.test));
  }

  // Follows the parts, in turn, as far as tests are seen or need no decision; false if one waits for its test.
  advance() {
    for (let moved = true; moved;) {
      moved = false;
      for (let i = 0; i < this.parts.length;) {
        const test = this.testAt(this.parts[i]);
        if (test < 0 || !(this.seen.has(test) || this.asksFreely(test)) || !this.affordable(test)) {
          i++;
          continue;
        }
        if (!this.seen.has(test) && !this.ask(test)) return false;
        this.move(i);
        moved = true;
      }
    }
    return true;
  }

  // Whether a test has to pay: the case is divided, or will be at a test below that is known to be unavailable. A value
  // that is in hand is used as if nothing had been known before.
  mustPay(test) {
    if (!this.mayStop || this.divided) return this.mayStop;
    if (this.known.has(test)) return false;
    for (const at of this.unavailable.size ? this.model.below(this.parts[0].node) : []) {
      const below = this.model.nodes[at].test;
      if (this.unavailable.has(below) && !this.seen.has(below)) return true;
    }
    return false;
  }

  // What is known when a test is decided on: what was seen, and, for a test still to be done, what is known to be unavailable.
  metBefore(test) {
    return this.known.has(test) ? this.seen : union(this.seen, this.unavailable);
  }

  asksFreely(test) {
    if (!this.mustPay(test)) return true;
    const { ordered } = this.orderForDecision(test, this.parts, this.charged, this.metBefore(test));
    return !(this.expectedPrice(ordered, this.charged, test, this.parts) > 0);
  }

  // Whether a case that orders a test stays within the cap, whatever its values.
  affordable(test) {
    const { prices } = this.model;
    if (prices.cap === Infinity || this.charged.has(test)) return true;
    return prices.withinCap(this.order(test, this.parts, this.charged, (t) => this.known.has(t)).ordered);
  }

  // What an order is expected to cost the parts that stand at its test: surcharges by what they add at these nodes.
  expectedPrice(ordered, paid, test, parts) {
    const { nodes, prices } = this.model;
    if (!prices.surcharges.length) return prices.price(ordered, paid);
    const here = parts.filter((part) => this.testAt(part) === test);
    const share = sum(here.map((part) => part.share));
    const added = prices.surcharges.map((_, s) =>
      (share > 0 ? sum(here.map((part) => part.share * nodes[part.node].expected[s])) / share : 0));
    return prices.price(ordered, paid, [...prices.amounts.slice(0, prices.firstSurcharge), ...added]);
  }

  ask(test) {
    if (!this.known.has(test)) {
      this.waiting = test;
      return false;
    }
    this.seen.add(test);
    return true;
  }

  move(i) {
    const { node: at, share } = this.parts[i];
    const node = this.model.nodes[at];
    const branch = this.branch(at);
    if (branch >= 0) {
      this.charged = this.order(node.test, this.parts, this.charged, (t) => this.known.has(t)).ordered;
      this.parts[i] = { node: node.children[branch], share };
      return;
    }
    this.parts.splice(i, 1, ...this.heaviestFirst(node).map(([b, part]) => ({ node: node.children[b], share: share * part })));
  }

  // The results of a test that is still to be done: branches with how often training cases take them.
  branches(node, shares = node.frequencies) {
    return shares.map((share, b) => [b, share]).filter(([, share]) => share > 0);
  }

  heaviestFirst(node) {
    const weight = ([, share]) => Math.floor(share * 1e9 + 0.5); // in billionths: rounding decides nothing
    return this.branches(node, node.branchShares).sort((one, other) => weight(other) - weight(one) || one[0] - other[0]);
  }

  // What is charged once all parts at a test have ordered it, and the other tests ordered with it. Tests that are met and
  // unavailable are not ordered.
  order(test, parts, charged, met) {
    const { prices } = this.model;
    if (charged.has(test)) return { ordered: charged, commits: [] };
    const delayed = prices.ordersDelayed(test, charged);
    const ordered = new Set();
    for (const part of parts) {
      if (this.testAt(part) !== test || (met(test) && this.branch(part.node) < 0)) continue;
      ordered.add(test);
      for (const at of delayed || this.model.nodes[part.node].commits ? this.model.below(part.node) : []) {
        const below = this.model.nodes[at].test;
        if (below >= 0 && !(met(below) && this.branch(at) < 0)) ordered.add(below);
      }
    }
    const commits = [...ordered].filter((t) => t !== test && !charged.has(t)).sort((a, b) => a - b);
    return { ordered: prices.order(ordered, charged), commits };
  }

  orderForDecision(test, parts, charged, met) {
    return this.order(test, parts, charged, (t) => met.has(t));
  }

  // The first test that lowers the expected cost, if tests have to pay; null if there is none.
  testThatPays() {
    if (!this.mayStop) return null;
    const stop = this.model.answerCost(this.model.mixture(this.parts));
    this.rejected = null;
    for (const test of new Set(this.parts.map((part) => this.testAt(part)).filter((t) => t >= 0))) {
      if (!this.affordable(test)) continue;
      // Once it is in hand, it is judged by what was seen: it must not be ignored then.
      const before = [this.metBefore(test), ...(this.divided ? [this.seen] : [])];
      const costs = before.map((met) => this.costOfTest(test, this.charged, new Set(), met));
      const cost = costs.find((one) => !(one < stop - 1e-9 * this.model.largest));
      if (cost === undefined) return test;
      if (this.rejected === null || cost < this.rejected.cost) this.rejected = { test, cost };
    }
    return null;
  }

  // Expected cost if all parts at a test do it, the first then goes on as long as that pays, and the others stay.
  costOfTest(test, charged, known, met = this.metBefore(test)) {
    const { model } = this;
    const { ordered } = this.orderForDecision(test, this.parts, charged, met);
    const group = this.parts.filter((part) => this.testAt(part) === test);
    const rest = this.parts.filter((part) => this.testAt(part) !== test);
    let results = this.jointResults(group);
    for (; !results.length; results = this.jointResults(group)) rest.push(group.pop());
    return this.expectedPrice(ordered, union(charged, known), test, this.parts) + sum(results.map(({ chance, branches }) => {
      const moved = group.map(({ node, share }, i) => ({ node: model.nodes[node].children[branches[i]], share }));
      return chance * this.costOfPart(moved[0], model.mixture([...rest, ...moved.slice(1)]), ordered, known, met);
    }));
  }

  // The results that a test can have for parts that stand at it: how probable each is, and the branches that it takes.
  jointResults(group) {
    const nodes = group.map(({ node }) => this.model.nodes[node]);
    if (nodes.length === 1) return this.branches(nodes[0]).map(([b, chance]) => ({ branches: [b], chance }));
    const cuts = nodes[0].branchOf ? [] : [...new Set(nodes.map((node) => node.threshold))].sort((a, b) => a - b);
    const possible = nodes[0].branchOf
      ? this.model.columns[nodes[0].test].values.map((value) => nodes.map((node) => this.model.branch(node, value)))
      : [-Infinity, ...cuts].map((above) => nodes.map((node) => Number(above >= node.threshold)));
    const distinct = [...new Map(possible.map((branches) => [branches.join(), branches])).values()];
    const results = distinct.map((branches) => ({
      branches,
      chance: branches.reduce((product, b, i) => product * (b < 0 ? 0 : nodes[i].frequencies[b]), 1),
    })).filter(({ chance }) => chance > 0);
    const total = sum(results.map(({ chance }) => chance));
    return results.map(({ branches, chance }) => ({ branches, chance: chance / total }));
  }

  // Expected cost if a part goes on from a node as long as that pays, and the others stay.
  costOfPart({ node: top, share }, others, charged, known, met) {
    return this.evaluate(top, charged, (at, charged) => {
      const { model } = this;
      const node = model.nodes[at];
      const stop = model.answerCost(model.mixed(others, at, share));
      if (node.test < 0 || (met.has(node.test) && this.branch(at) < 0)) return { stop, branches: [] };
      if (met.has(node.test)) return { stop: Infinity, price: 0, ordered: charged, branches: [[this.branch(at), 1]] };
      const here = [{ node: at, share }];
      const { ordered } = this.orderForDecision(node.test, here, charged, met);
      if (!model.prices.withinCap(ordered)) return { stop, branches: [] }; // it stays here
      const price = this.expectedPrice(ordered, union(charged, known), node.test, here);
      return { stop, price, ordered, branches: this.branches(node) };
    });
  }

  // The answers of the leaves that the case may still come to.
  laterAnswers() {
    const found = new Set();
    const todo = this.parts.map(({ node }) => node);
    while (todo.length) {
      const at = todo.pop();
      const { test, children, answer } = this.model.nodes[at];
      const branch = this.known.has(test) ? this.branch(at) : -1;
      if (test < 0) found.add(answer);
      todo.push(...(branch >= 0 ? [children[branch]] : children));
    }
    return [...found].sort((a, b) => a - b);
  }

  // Expected cost if the case goes on with the test that it waits for; null if unknown. `paid` costs nothing, but what a
  // test orders depends on what was charged on the path.
  costOfGoingOn(paid) {
    if (this.mustPay(this.waiting)) return this.costOfTest(this.waiting, this.charged, paid);
    if (this.divided) return null;
    const cost = this.undividedCost(this.parts[0].node, this.charged, paid);
    return Number.isNaN(cost) ? null : cost;
  }

  // Expected cost of a case that is in one place, if it goes on as the tree says; NaN if there are no weights to divide by.
  undividedCost(top, charged, paid) {
    const { model } = this;
    return this.evaluate(top, charged, (at, charged) => {
      const node = model.nodes[at];
      if (node.test < 0) return { stop: model.errorCost(node.mixed, node.answer), branches: [] };
      const known = this.known.has(node.test);
      const branch = known ? this.branch(at) : -1;
      if (known && branch < 0) return { stop: this.dividedCost(node, charged, paid), branches: [] };
      const here = [{ node: at, share: 1 }];
      const { ordered } = this.order(node.test, here, charged, (t) => this.known.has(t));
      if (!model.prices.withinCap(ordered)) return { stop: model.errorCost(node.shares, node.answer), branches: [] }; // it ends here
      if (!known && !node.children.some((child) => model.nodes[child].weight > 0)) return { stop: NaN, branches: [] };
      const branches = known ? [[branch, 1]] : this.branches(node);
      return { stop: Infinity, price: this.expectedPrice(ordered, union(charged, paid), node.test, here), ordered, branches };
    });
  }

  // The same for a case that will be divided at a node, whose test is unavailable.
  dividedCost(node, charged, paid) {
    const { model } = this;
    const later = Object.assign(Object.create(Walk.prototype), { model, known: this.known, charged, seen: new Set(this.known.keys()), unavailable: this.unavailable });
    later.parts = this.heaviestFirst(node).map(([b, share]) => ({ node: node.children[b], share }));
    if (later.parts.length === 1) return this.undividedCost(later.parts[0].node, charged, paid);
    if (!this.mayStop) return NaN;
    const tests = later.parts.map((part) => this.testAt(part)).filter((test) => test >= 0 && !this.known.has(test));
    const affordable = [...new Set(tests)].filter((test) =>
      model.prices.withinCap(later.orderForDecision(test, later.parts, charged, later.seen).ordered));
    const costs = affordable.map((test) => later.costOfTest(test, charged, paid));
    return Math.min(model.answerCost(model.mixture(later.parts)), ...costs);
  }

  // The least expected cost from a node on: `look` says what stopping there costs, what going on charges, and where it
  // leads. Nodes are collected from the top and evaluated from the bottom.
  evaluate(top, charged, look) {
    const visits = [{ at: top, chance: 1, charged }];
    for (const visit of visits) {
      const { ordered, branches, ...found } = look(visit.at, visit.charged);
      Object.assign(visit, found, { first: visits.length });
      for (const [b, chance] of branches) visits.push({ at: this.model.nodes[visit.at].children[b], chance, charged: ordered });
      visit.end = visits.length;
    }
    for (const visit of visits.toReversed()) {
      const below = visits.slice(visit.first, visit.end);
      const on = visit.price + sum(below.map(({ chance, cost }) => chance * cost));
      visit.cost = below.length ? Math.min(on, visit.stop) : visit.stop;
    }
    return visits[0].cost;
  }
}
