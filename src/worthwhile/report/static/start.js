// Starts the page's scripts.

const svg = document.querySelector("svg.tree");
const treeView = svg && new TreeView(svg, svg.closest(".viewport"));
const data = document.getElementById("model");
if (data) new WalkThrough(new Model(JSON.parse(data.textContent)), document.getElementById("walk"), treeView);

// Print what a reader would otherwise have to open.
const openedForPrint = [];
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details[data-print]:not([open])")) {
    details.open = true;
    openedForPrint.push(details);
  }
});
window.addEventListener("afterprint", () => {
  while (openedForPrint.length) openedForPrint.pop().open = false;
});
