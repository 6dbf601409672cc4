// The walk-through: one case, answered question by question. The whole way is worked out anew after every answer, so that
// undoing is leaving out the last one.

const OTHER = Object.freeze({}); // a value that the tree has never seen
const MOST_BUTTONS = 10; // a test with more values gets a list to choose from
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const amount = (value) => value.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");
const percent = (share) => `${Math.round(100 * share)} %`;

// An element with attributes, and children that are elements or texts.
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

class WalkThrough {
  constructor(model, section, picture) {
    Object.assign(this, { model, section, picture, answers: [] });
    this.money = (value) => {
      const unit = section.dataset.currency;
      if (!unit) return amount(value);
      return /^\p{Sc}$/u.test(unit) ? unit + amount(value) : `${amount(value)} ${unit}`;
    };
    this.part = (name) => section.querySelector(`[data-walk="${name}"]`);
    this.part("form").addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    this.part("unavailable").addEventListener("click", () => this.answer(null));
    this.part("undo").addEventListener("click", () => { this.answers.pop(); this.show(true); });
    this.part("restart").addEventListener("click", () => { this.answers = []; this.show(true); });
    this.show(false);
  }

  name(test) {
    return this.model.columns[test].name;
  }

  valueText(value) {
    return value === null ? "not available" : value === OTHER ? "another value" : String(value);
  }

  answer(value) {
    this.answers.push([this.advice.test, value]);
    this.show(true);
  }

  submit() {
    const field = this.part("form").querySelector("input, select");
    if (!field) return;
    if (field.tagName === "SELECT") {
      const values = this.model.columns[this.advice.test].values;
      if (field.value === "") this.refuse(field, "Choose a value first.");
      else this.answer(field.value === "other" ? OTHER : values[Number(field.value)]);
      return;
    }
    const text = field.value.trim();
    if (NUMBER.test(text) && Number.isFinite(Number(text))) this.answer(Number(text));
    else this.refuse(field, text ? `“${text}” is not a number; write it like 12.5.` : "Enter a number, or choose “Not available”.");
  }

  refuse(field, why) {
    this.part("error").textContent = why;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }

  show(moved) {
    const advices = [this.model.advise(new Map())];
    for (let i = 1; i <= this.answers.length; i++) advices.push(this.model.advise(new Map(this.answers.slice(0, i))));
    this.advice = advices.at(-1);
    this.showState();
    this.showQuestion();
    this.showShares();
    this.showLedger(advices);
    this.markPicture();
    const none = this.answers.length === 0;
    this.part("undo").disabled = none;
    this.part("restart").disabled = none;
    this.part("unavailable").hidden = this.advice.test === null;
    if (moved) {
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
      commits: JSON.stringify(advice.commits.map((test) => this.name(test))),
      answer: JSON.stringify(advice.test === null ? model.answers[advice.answer] : null),
      shares: JSON.stringify(advice.shares),
      stop: JSON.stringify(advice.stop ? [model.answers[advice.stop.answer], advice.stop.cost] : null),
      goOn: JSON.stringify(advice.goOnCost ?? null),
    });
  }

  summary() {
    const { advice } = this;
    if (advice.test === null) return `Answer: ${labelText(this.model.answers[advice.answer])}. The tests cost ${this.money(advice.spent)}.`;
    return `Next test: ${this.name(advice.test)}, for ${this.money(advice.price)}. Spent so far: ${this.money(advice.spent)}.`;
  }

  showQuestion() {
    const { advice, model } = this;
    this.part("error").textContent = "";
    this.part("form").replaceChildren();
    this.part("spent").textContent = this.money(advice.spent);
    const finished = advice.test === null;
    this.part("card").classList.toggle("finished", finished);
    const n = this.answers.length;
    this.part("step").textContent = finished ? `Answer after ${n} step${n === 1 ? "" : "s"}` : `Step ${n + 1}: do this test next`;
    if (finished) {
      this.part("question").textContent = labelText(model.answers[advice.answer]);
      const errors = `, and errors of this answer are expected to cost ${this.money(advice.errorCost)}.`;
      this.part("price").replaceChildren("The tests cost ", make("strong", {}, this.money(advice.spent)), errors);
      this.part("order").textContent = "";
      this.part("why").textContent = "";
      return;
    }
    this.part("question").textContent = this.name(advice.test);
    this.part("price").replaceChildren("Price here: ", make("strong", {}, this.money(advice.price)), this.priceNote());
    this.part("order").textContent = this.orderNote();
    this.part("why").textContent = this.reason();
    this.part("form").append(...this.fields());
  }

  priceNote() {
    const { advice, model } = this;
    if (advice.price > 0) return "";
    return model.prices.price(model.prices.closures[advice.test]) > 0 ? " (already paid)" : " (free)";
  }

  orderNote() {
    const { advice, model } = this;
    const names = (tests) => tests.map((test) => this.name(test)).join(", ");
    const notes = [];
    if (advice.comes.length) notes.push(`It needs ${names(advice.comes)}, which the price includes.`);
    if (advice.commits.length) {
      notes.push(`Its result comes later, so everything that may be asked after it is ordered now: ${names(advice.commits)}.`);
    } else if (advice.price > 0 && model.prices.delayed[advice.test]) notes.push("Its result comes later.");
    return notes.join(" ");
  }

  reason() {
    const { stop, goOnCost } = this.advice;
    if (stop === null) return "";
    const now = `Answering ${labelText(this.model.answers[stop.answer])} now is expected to cost ${this.money(stop.cost)} in errors`;
    return goOnCost === null ? `${now}.` : `${now}; going on ${this.money(goOnCost)} in tests and errors.`;
  }

  fields() {
    const { advice, model } = this;
    const column = model.columns[advice.test];
    const label = make("label", { for: "walk-value" }, `Value of ${column.name}`);
    const row = (field) => make("span", { class: "row" }, field, make("button", { class: "primary" }, "Go on"));
    if (column.kind === "numeric") {
      const cuts = [...new Set(advice.nodes.map((node) => model.nodes[node].threshold))].sort((a, b) => a - b);
      const above = cuts.map((cut) => `whether it is above ${cut}`).join(" and "); // parts of a case may differ in it
      const hint = make("span", { class: "hint", id: "walk-hint" }, `The tree goes on by ${above}.`);
      const kind = { type: "text", inputmode: "decimal", autocomplete: "off" };
      return [label, row(make("input", { ...kind, id: "walk-value", "aria-describedby": "walk-hint walk-error" })), hint];
    }
    const choices = [...column.values, OTHER];
    if (choices.length > MOST_BUTTONS) {
      const entries = choices.map((value, i) => make("option", { value: value === OTHER ? "other" : i }, this.valueText(value)));
      const nothing = make("option", { value: "" }, "choose …");
      return [label, row(make("select", { id: "walk-value", "aria-describedby": "walk-error" }, nothing, ...entries))];
    }
    const buttons = choices.map((value) => {
      const button = make("button", { type: "button", class: value === OTHER ? "quiet" : "primary" }, this.valueText(value));
      button.addEventListener("click", () => this.answer(value));
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

  showLedger(advices) {
    const rows = this.answers.map(([test, value], i) => {
      const paid = advices[i + 1].spent - advices[i].spent;
      const also = value === null || value === OTHER ? [] : advices[i].commits;
      const what = this.name(test) + (also.length ? ` (with ${also.map((t) => this.name(t)).join(", ")})` : "");
      const money = [paid, advices[i + 1].spent].map((sum) => make("td", {}, amount(sum)));
      return make("tr", {}, make("th", { scope: "row" }, what), make("td", { class: "text" }, this.valueText(value)), ...money);
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", { colspan: 4, class: "text" }, "Nothing was asked yet.")));
    this.part("ledger").replaceChildren(...rows);
  }

  markPicture() {
    if (!this.picture) return;
    const standing = new Set(this.advice.standing.map((place) => place.node));
    const way = new Set(standing);
    for (let at of standing) for (; at !== null; at = this.picture.nodes.get(at).parent) way.add(at);
    this.picture.mark(way, standing);
  }
}
