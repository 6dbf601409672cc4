// What the browser test runs inside a report: it uses the page as a person would, and looks at it closely.

const part = (name) => document.getElementById("walk").querySelector(`[data-walk="${name}"]`);

const shown = () => ({
  ...document.getElementById("walk").dataset,
  question: part("question").textContent,
  said: part("price").textContent,
  money: part("spent").textContent,
  rows: part("ledger").rows.length,
});

const choose = (words) => {
  const list = part("form").querySelector("select");
  if (!list) {
    [...part("form").querySelectorAll("button")].find((button) => button.textContent === words).click();
    return;
  }
  list.value = [...list.options].find((option) => option.textContent === words).value;
  part("form").requestSubmit();
};

const enter = (number) => {
  part("form").querySelector("input").value = String(number);
  part("form").requestSubmit();
};

// Answers questions and takes answers back; returns what the page shows at first and after each step.
globalThis.drive = (steps) => [shown(), ...steps.map(([what, value]) => {
  if (what === "undo" || what === "unavailable") part(what).click();
  else if (what === "other") choose("another value");
  else if (typeof value === "number") enter(value);
  else choose(value);
  return shown();
})];

const rgba = (text) => {
  const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
  return { r, g, b, a };
};

// Relative luminance and contrast as WCAG 2 defines them.
const luminance = ({ r, g, b }) => {
  const [x, y, z] = [r / 255, g / 255, b / 255].map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};

const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const behind = (element) => {
  const box = element.closest("g.node");
  if (box && !element.classList.contains("more")) return rgba(getComputedStyle(box.querySelector("rect")).fill);
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour.a > 0) return colour;
  }
  return { r: 255, g: 255, b: 255, a: 1 };
};

// The number of texts that are to be seen, and those that hardly stand out from what is behind them.
globalThis.contrasts = () => {
  const poor = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.getClientRects().length) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const found = contrast(rgba(element instanceof SVGElement ? style.fill : style.color), behind(element));
    if (found < 4.5) poor.push([text, found]);
  }
  return [seen, poor];
};

// Names, as they are read out, of everything that can be used.
globalThis.names = () =>
  [...document.querySelectorAll("button, input, select, a, summary, [role=treeitem], [role=tree], [role=group]")].map(
    (element) => element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.textContent.trim());

// Tries to load, to run and to send something; returns what the page's policy has refused, and whether nothing ran.
globalThis.intrude = async (there) => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
  const image = new Image();
  image.src = `${there}image`;
  const script = document.createElement("script");
  script.textContent = "globalThis.intruder = true";
  const form = document.createElement("form");
  form.action = `${there}form`;
  document.body.append(image, script, form);
  form.submit();
  await fetch(`${there}fetch`).catch(() => null);
  await new Promise((done) => { setTimeout(done, 300); });
  return [refused.sort(), globalThis.intruder === undefined];
};
