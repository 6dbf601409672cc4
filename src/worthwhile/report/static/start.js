// Puts the page to work.

const svg = document.querySelector("svg.tree");
const picture = svg && new TreePicture(svg, svg.closest(".viewport"));
const data = document.getElementById("model");
if (data) new WalkThrough(new Model(JSON.parse(data.textContent)), document.getElementById("walk"), picture);

// Paper has no buttons to open anything with.
const opened = [];
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details[data-print]:not([open])")) {
    details.open = true;
    opened.push(details);
  }
});
window.addEventListener("afterprint", () => {
  while (opened.length) opened.pop().open = false;
});
