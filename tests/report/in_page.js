// Runs inside a report in the browser tests: thousands of entries in one call, and the contrast of every text.

const part = (name) => document.querySelector(`#walk [data-walk="${name}"]`);

const state = () => ({
  ...document.getElementById("walk").dataset,
  question: part("question").textContent,
  priceText: part("price").textContent,
  spentText: part("spent").textContent,
  rows: part("history").rows.length,
});

const choose = (label) => {
  const list = part("form").querySelector("select");
  if (!list) {
    [...part("form").querySelectorAll("button")].find((button) => button.textContent === label).click();
    return;
  }
  list.value = [...list.options].find((option) => option.textContent === label).value;
  part("form").requestSubmit();
};

const enter = (number) => {
  part("form").querySelector("input").value = String(number);
  part("form").requestSubmit();
};

// Enters values and undoes entries; returns the state of the page at first and after each step.
globalThis.walk = (steps) => [state(), ...steps.map(([action, value]) => {
  if (action === "undo" || action === "unavailable") part(action).click();
  else if (action === "other") choose("other value");
  else if (typeof value === "number") enter(value);
  else choose(value);
  return state();
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

const background = (element) => {
  const box = element.closest("g.node");
  if (box && !element.classList.contains("more")) return rgba(getComputedStyle(box.querySelector("rect")).fill);
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour.a > 0) return colour;
  }
  return { r: 255, g: 255, b: 255, a: 1 };
};

// The number of visible strings, and those whose contrast is too low.
globalThis.contrasts = () => {
  const low = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.getClientRects().length) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const found = contrast(rgba(element instanceof SVGElement ? style.fill : style.color), background(element));
    if (found < 4.5) low.push([text, found]);
  }
  return [seen, low];
};
