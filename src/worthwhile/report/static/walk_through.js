// The walk-through of one case, test by test. After each entry the path is computed again from the start, so undo only has
// to drop the last entry.

const OTHER = Object.freeze({}); // a value that did not occur in training
const MAX_BUTTONS = 10; // a test with more values gets a drop-down list
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?$/;
const DAY = 86400000; // milliseconds

// A date is a number of days since 1970-01-01, in UTC; without a time of day where that is midnight.
const dateText = (days) => {
  const date = new Date(Math.round(days * DAY));
  return Number.isNaN(date.getTime()) ? String(days) : date.toISOString().slice(0, 19).replace("T", " ").replace(/( 00:00)?:00$/, "");
};
const dayNumber = (text) => Date.parse(`${text.replace(" ", "T")}${text.length > 10 ? "Z" : ""}`) / DAY;

// Two decimals, or two significant digits of a small amount, as in Python.
const amount = (value) => {
  const size = Math.abs(value);
  if (size < 5e-7) return "0.00";
  let text = value.toFixed(2);
  if (size < 0.0995) text = value.toFixed(1 - Math.floor(Math.log10(size))).replace(/(\.\d\d\d*?)0+$/, "$1");
  return text.replace("-", "−");
};
const percent = (share) => `${Math.round(100 * share)} %`;

// An element with attributes and children (elements or strings).
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

class WalkThrough {
  constructor(model, section, treeView) {
    Object.assign(this, { model, section, treeView, results: [] });
    this.money = (value) => {
      const unit = section.dataset.currency;
      if (!unit) return amount(value);
      return /^\p{Sc}$/u.test(unit) ? unit + amount(value) : `${amount(value)} ${unit}`;
    };
    this.part = (name) => section.querySelector(`[data-walk="${name}"]`);
    this.part("form").addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    this.part("unavailable").addEventListener("click", () => this.enter(null));
    this.part("undo").addEventListener("click", () => { this.results.pop(); this.show(true); });
    this.part("restart").addEventListener("click", () => { this.results = []; this.show(true); });
    this.show(false);
  }

  name(test) {
    return this.model.columns[test].name;
  }

  valueText(value, column) {
    if (column?.dates && typeof value === "number") return dateText(value);
    return value === null ? "not available" : value === OTHER ? "other value" : String(value);
  }

  enter(value) {
    this.results.push([this.advice.test, value]);
    this.show(true);
  }

  submit() {
    const field = this.part("form").querySelector("input, select");
    if (!field) return;
    if (field.tagName === "SELECT") {
      const values = this.model.columns[this.advice.test].values;
      if (field.value === "") this.reject(field, "Choose a value first.");
      else this.enter(field.value === "other" ? OTHER : values[Number(field.value)]);
      return;
    }
    const text = field.value.trim();
    const { dates } = this.model.columns[this.advice.test];
    if (dates) {
      if (DATE.test(text) && !Number.isNaN(dayNumber(text))) this.enter(dayNumber(text));
      else this.reject(field, text ? `“${text}” is not a date. Use a format like 2024-03-31.` : "Enter a date, or choose “Not available”.");
      return;
    }
    if (NUMBER.test(text) && Number.isFinite(Number(text))) this.enter(Number(text));
    else this.reject(field, text ? `“${text}” is not a number. Use a format like 12.5.` : "Enter a number, or choose “Not available”.");
  }

  reject(field, message) {
    this.part("error").textContent = message;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }

  show(entered) {
    const advices = [this.model.advise(new Map())];
    for (let i = 1; i <= this.results.length; i++) advices.push(this.model.advise(new Map(this.results.slice(0, i))));
    this.advice = advices.at(-1);
    this.showState();
    this.showQuestion();
    this.showShares();
    this.showHistory(advices);
    this.markTree();
    const none = this.results.length === 0;
    this.part("undo").disabled = none;
    this.part("restart").disabled = none;
    this.part("unavailable").hidden = this.advice.test === null;
    if (entered) {
      this.part("status").textContent = this.summary();
      (this.part("form").querySelector("input, select, button") || this.part("question")).focus();
    }
  }

  // What is shown, in full precision, for programs that read the page.
  showState() {
    const { advice, model } = this;
    Object.assign(this.section.dataset, {
      test: advice.test === null ? "" : this.name(advice.test),
      price: advice.price,
      spent: advice.spent,
      waits: advice.waits,
      commits: JSON.stringify(advice.commits.map((test) => this.name(test))),
      answer: JSON.stringify(advice.test === null ? model.answers[advice.answer] : null),
      shares: JSON.stringify(advice.shares),
      stop: JSON.stringify(advice.stop ? [model.answers[advice.stop.answer], advice.stop.cost] : null),
      goOnCost: JSON.stringify(advice.goOnCost ?? null),
    });
  }

  summary() {
    const { advice } = this;
    if (advice.test === null) return `Answer: ${labelText(this.model.answers[advice.answer])}. The tests cost ${this.money(advice.spent)}.`;
    return `Next test: ${this.name(advice.test)}, price ${this.money(advice.price)}. Spent so far: ${this.money(advice.spent)}.`;
  }

  showQuestion() {
    const { advice, model } = this;
    this.part("error").textContent = "";
    this.part("form").replaceChildren();
    this.part("spent").textContent = this.money(advice.spent);
    const finished = advice.test === null;
    this.part("card").classList.toggle("finished", finished);
    const n = this.results.length;
    this.part("step").textContent = finished ? `Answer after ${n} step${n === 1 ? "" : "s"}` : `Step ${n + 1}: do this test next`;
    if (finished) {
      this.part("question").textContent = labelText(model.answers[advice.answer]);
      const errors = `. The expected error cost of this answer is ${this.money(advice.errorCost)}.`;
      this.part("price").replaceChildren("The tests cost ", make("strong", {}, this.money(advice.spent)), errors);
      this.part("order").textContent = "";
      const { rejected } = advice;
      this.part("why").textContent = rejected
        ? `No further test pays: going on with ${this.name(rejected.test)} is expected to cost ${this.money(rejected.cost)} (tests and errors).`
        : this.capNote();
      return;
    }
    this.part("question").textContent = this.name(advice.test);
    this.part("price").replaceChildren("Price: ", make("strong", {}, this.money(advice.price)), this.priceNote());
    this.part("order").textContent = this.orderNote();
    this.part("why").textContent = this.reason();
    this.part("form").append(...this.fields());
  }

  priceNote() {
    const { advice, model } = this;
    if (advice.price > 0) return "";
    return model.prices.price(model.prices.closures[advice.test]) > 0 ? " (already paid)" : " (free)";
  }

  capNote() {
    const { capped } = this.advice;
    if (capped === null) return "";
    return `${this.name(capped)} is not done: with it the tests could cost more than the cap of ${this.money(this.model.prices.cap)}.`;
  }

  orderNote() {
    const { advice, model } = this;
    const notes = [];
    if (advice.commits.length) {
      const names = advice.commits.map((test) => this.name(test)).join(", ");
      const why = advice.delayed ? "Its result is delayed, so all" : "Waiting for one result after another would cost more, so all";
      notes.push(`${why} tests that may follow are ordered now: ${names}.`);
    } else if (advice.price > 0 && model.prices.delayed[advice.test]) notes.push("Its result is delayed.");
    const items = [...advice.order].map(([test, item]) => [this.name(test), item, this.extras(item).join("; ")]);
    if (items.length > 1) {
      const parts = items.map(([name, item, extras]) => `${name} ${amount(item.price)}${extras && ` (${extras})`}`);
      notes.push(`The price includes ${parts.join(", ")}.`);
    } else if (items.length && items[0][2]) notes.push(`The price includes ${items[0][2]}.`);
    return notes.join(" ");
  }

  // Whether the tests still to come can change an answer.
  change(answer) {
    const others = this.advice.laterAnswers.filter((other) => other !== answer).map((other) => labelText(this.model.answers[other]));
    return others.length ? `the results can change the answer to ${others.join(" or ")}` : "no result changes the answer";
  }

  // The surcharges of a test and its waiting time, in words; "30.00 of 300.00" is an expected amount.
  extras({ surcharges, wait, waiting }) {
    const found = surcharges.map((own) => {
      const expected = Math.abs(own.charged - own.amount) > 1e-9 * Math.abs(own.amount);
      return `${this.surchargeText(own)}: ${amount(own.charged)}${expected ? ` of ${amount(own.amount)}` : ""}`;
    });
    return wait ? [...found, `wait ${wait}: ${amount(waiting)}`] : found;
  }

  // When a surcharge applies, e.g. "reaction", "age < 1", "class sick", "after ecg".
  surchargeText({ test, given, conditions }) {
    const words = conditions.map((condition) => {
      if (condition.column === test && condition.isWord) return condition.text;
      return `${this.name(condition.column)} ${condition.compare ? "" : "= "}${condition.text}`;
    });
    if (given.truth !== undefined) words.push(`class ${labelText(given.truth)}`);
    const after = given.after ? `after ${given.after.join(" and ")}` : "";
    const afterAny = given.after_any ? `after ${given.after_any.join(" or ")}` : "";
    return [words.join(" and "), after, afterAny].filter(Boolean).join(", ");
  }

  reason() {
    const { stop, goOnCost } = this.advice;
    if (stop === null) return "";
    const now = `Expected cost of answering ${labelText(this.model.answers[stop.answer])} now: ${this.money(stop.cost)} (errors).`;
    if (goOnCost === null) return now;
    const pays = goOnCost <= stop.cost + 1e-9 * this.model.largest;
    const more = pays ? "" : ` The tree was learned by other figures; ${this.change(stop.answer)}.`;
    return `${now} Expected cost of continuing: ${this.money(goOnCost)} (tests and errors).${more}`;
  }

  fields() {
    const { advice, model } = this;
    const column = model.columns[advice.test];
    const label = make("label", { for: "walk-value" }, `Value of ${column.name}`);
    const row = (field) => make("span", { class: "row" }, field, make("button", { class: "primary" }, "Next"));
    if (column.kind === "numeric") {
      const cuts = [...new Set(advice.nodes.map((node) => model.nodes[node].threshold))].sort((a, b) => a - b);
      const above = cuts.map((cut) => this.valueText(cut, column)).join(" or "); // a case that is at several nodes may have several thresholds
      const hint = make("span", { class: "hint", id: "walk-hint" }, `The next branch depends on whether the value is above ${above}.`);
      const kind = { type: "text", inputmode: column.dates ? "text" : "decimal", autocomplete: "off" };
      if (column.dates) kind.placeholder = "YYYY-MM-DD";
      return [label, row(make("input", { ...kind, id: "walk-value", "aria-describedby": "walk-hint walk-error" })), hint];
    }
    const choices = [...column.values, OTHER];
    if (choices.length > MAX_BUTTONS) {
      const entries = choices.map((value, i) => make("option", { value: value === OTHER ? "other" : i }, this.valueText(value)));
      const empty = make("option", { value: "" }, "Choose …");
      return [label, row(make("select", { id: "walk-value", "aria-describedby": "walk-error" }, empty, ...entries))];
    }
    const buttons = choices.map((value) => {
      const button = make("button", { type: "button", class: value === OTHER ? "quiet" : "primary" }, this.valueText(value));
      button.addEventListener("click", () => this.enter(value));
      return button;
    });
    return [make("fieldset", {}, make("legend", {}, `Value of ${column.name}`), ...buttons)];
  }

  showShares() {
    const rows = this.advice.shares.map((share, c) => {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${100 * share}%`;
      const name = make("th", { scope: "row" }, labelText(this.model.classes[c]));
      return make("tr", {}, name, make("td", { class: "track", "aria-hidden": "true" }, bar), make("td", {}, percent(share)));
    });
    this.part("shares").replaceChildren(...rows);
  }

  // A row per result, and per test that was paid for without its result being asked for.
  showHistory(advices) {
    const { model } = this;
    const asked = new Set(this.results.map(([test]) => test));
    const { charged, amounts } = advices.at(-1);
    const paid = new Set(model.prices.tests(charged));
    const before = new Set();
    const lines = this.results.flatMap(([test, value], i) => {
      const now = model.prices.tests(advices[i + 1].charged);
      const fresh = now.filter((t) => !before.has(t) && paid.has(t) && !asked.has(t)).sort((a, b) => a - b);
      now.forEach((t) => before.add(t));
      return [[test, this.valueText(value, model.columns[test])], ...fresh.map((t) => [t, `ordered with ${this.name(test)}`])];
    });
    const items = model.prices.items(lines.map(([test]) => test), charged, new Set(), amounts);
    let spent = 0;
    const rows = lines.map(([test, value]) => {
      const item = items.get(test) ?? { price: 0, surcharges: [], wait: 0 };
      spent += item.price;
      const money = [item.price, spent].map((total) => make("td", {}, amount(total)));
      const extras = this.extras(item).map((line) => make("small", {}, line));
      return make("tr", {}, make("th", { scope: "row" }, this.name(test)), make("td", { class: "text" }, value, ...extras), ...money);
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", { colspan: 4, class: "text" }, "No tests done yet.")));
    this.part("history").replaceChildren(...rows);
  }

  markTree() {
    if (!this.treeView) return;
    const current = new Set(this.advice.positions.map((position) => position.node));
    const path = new Set(current);
    for (let at of current) for (; at !== null; at = this.treeView.nodes.get(at).parent) path.add(at);
    this.treeView.mark(path, current);
  }
}
