// The tree on the page: subtrees collapse and expand; buttons, keys and the mouse wheel zoom.

const GAP = { row: 10, margin: 8 };
const MAX_EXPANDED = 60; // a larger tree opens with its lower levels collapsed
const MIN_ZOOM = 0.1;
const MAX_ZOOM = 4;

class TreeView {
  constructor(svg, viewport) {
    Object.assign(this, { svg, viewport, zoom: 1, collapsed: new Set(), nodes: new Map() });
    for (const group of svg.querySelectorAll("g.node")) {
      const at = Number(group.dataset.node);
      const parent = group.dataset.parent === undefined ? null : Number(group.dataset.parent);
      const [, x] = group.getAttribute("transform").match(/translate\(([\d.]+)/);
      const edge = svg.querySelector(`[data-edge="${at}"]`);
      this.nodes.set(at, { at, group, parent, x: Number(x), children: [], edge });
    }
    for (const node of this.nodes.values()) if (node.parent !== null) this.nodes.get(node.parent).children.push(node.at);
    this.box = { width: Number(svg.dataset.boxWidth), height: Number(svg.dataset.boxHeight) };
    this.focused = 0;
    this.listen();
    if (this.nodes.size > MAX_EXPANDED) this.collapseToSize();
    this.place();
    this.fitReadable();
  }

  // Expands level by level from the root, as long as at most MAX_EXPANDED nodes are shown.
  collapseToSize() {
    for (const node of this.nodes.values()) if (node.children.length) this.collapsed.add(node.at);
    let level = [0];
    let shown = 1;
    while (level.length) {
      const next = level.flatMap((at) => this.nodes.get(at).children);
      shown += next.length;
      if (shown > MAX_EXPANDED) break;
      for (const at of level) this.collapsed.delete(at);
      level = next;
    }
  }

  // The visible nodes from top to bottom, in the order of the arrow keys.
  visible() {
    const found = [];
    const todo = [0];
    while (todo.length) {
      const node = this.nodes.get(todo.pop());
      found.push(node);
      if (!this.collapsed.has(node.at)) todo.push(...[...node.children].reverse());
    }
    return found;
  }

  place() {
    const shown = this.visible();
    const rowHeight = this.box.height + GAP.row;
    let row = 0;
    for (const node of shown) {
      node.open = node.children.length > 0 && !this.collapsed.has(node.at);
      if (!node.open) node.y = GAP.margin + rowHeight * row++;
    }
    for (const node of [...shown].reverse()) {
      if (!node.open) continue;
      const ends = [node.children[0], node.children.at(-1)].map((child) => this.nodes.get(child).y);
      node.y = (ends[0] + ends[1]) / 2;
    }
    const seen = new Set(shown.map((node) => node.at));
    for (const node of this.nodes.values()) this.draw(node, seen.has(node.at));
    const counter = this.collapsed.size ? 40 : 0; // room for the number of hidden nodes
    this.size = {
      width: Math.max(...shown.map((node) => node.x)) + this.box.width + GAP.margin + counter,
      height: rowHeight * row - GAP.row + 2 * GAP.margin,
    };
    this.svg.setAttribute("viewBox", `0 0 ${this.size.width} ${this.size.height}`);
    if (!seen.has(this.focused)) this.focus(0, false);
    this.scale();
  }

  draw(node, seen) {
    node.group.toggleAttribute("hidden", !seen);
    node.edge?.toggleAttribute("hidden", !seen);
    if (!seen) return;
    node.group.setAttribute("transform", `translate(${node.x} ${node.y})`);
    if (node.children.length) {
      node.group.setAttribute("aria-expanded", String(node.open));
      node.group.classList.toggle("collapsed", !node.open);
    }
    if (node.parent === null) return;
    const parent = this.nodes.get(node.parent);
    const from = { x: parent.x + this.box.width, y: parent.y + this.box.height / 2 };
    const y = node.y + this.box.height / 2;
    node.edge.querySelector("path").setAttribute("d", `M${from.x} ${from.y}h10V${y}H${node.x}`);
    node.edge.querySelector("text").setAttribute("y", y - 4);
  }

  setCollapsed(at, collapsed) {
    if (!this.nodes.get(at).children.length) return;
    if (collapsed) this.collapsed.add(at);
    else this.collapsed.delete(at);
    this.place();
  }

  collapseAll(collapsed) {
    this.collapsed = new Set(collapsed ? [...this.nodes.values()].filter((n) => n.children.length).map((n) => n.at) : []);
    this.place();
    this.fitReadable();
  }

  scale() {
    this.svg.style.width = `${this.size.width * this.zoom}px`;
    this.svg.style.height = `${this.size.height * this.zoom}px`;
  }

  // Zooms around a point of the window, or the middle of the viewport.
  zoomTo(zoom, point) {
    const view = this.viewport.getBoundingClientRect();
    const at = point || { x: view.left + view.width / 2, y: view.top + view.height / 2 };
    const inside = { x: at.x - view.left + this.viewport.scrollLeft, y: at.y - view.top + this.viewport.scrollTop };
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
    const factor = next / this.zoom;
    this.zoom = next;
    this.scale();
    this.viewport.scrollLeft = inside.x * factor - (at.x - view.left);
    this.viewport.scrollTop = inside.y * factor - (at.y - view.top);
  }

  // Shows the whole tree, but no larger than full size.
  fit() {
    const { clientWidth, clientHeight } = this.viewport;
    const most = parseFloat(getComputedStyle(this.viewport).maxHeight) || clientHeight;
    this.show(Math.min(1, (clientWidth - 4) / this.size.width, (most - 4) / this.size.height));
  }

  // Fits the width of the window, but is never too small to read: of a wide tree, its beginning is shown.
  fitReadable() {
    this.show(Math.min(1, Math.max(0.7, (this.viewport.clientWidth - 4) / this.size.width)));
  }

  show(zoom) {
    this.zoom = zoom;
    this.scale();
    this.viewport.scrollLeft = 0;
    this.viewport.scrollTop = (this.nodes.get(0).y + this.box.height / 2) * this.zoom - this.viewport.clientHeight / 2;
  }

  focus(at, moveFocus = true) {
    this.nodes.get(this.focused).group.setAttribute("tabindex", "-1");
    this.focused = at;
    const { group } = this.nodes.get(at);
    group.setAttribute("tabindex", "0");
    if (moveFocus) {
      group.focus({ preventScroll: true });
      group.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  // Highlights the path of a case and the nodes it is at.
  mark(path, current) {
    for (const node of this.nodes.values()) {
      node.group.classList.toggle("on", path.has(node.at));
      node.edge?.classList.toggle("on", path.has(node.at));
      node.group.classList.toggle("here", current.has(node.at));
    }
  }

  listen() {
    const { svg, viewport } = this;
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("click", (event) => {
      const group = event.target.closest("g.node");
      if (!group || this.dragged) return;
      const at = Number(group.dataset.node);
      this.focus(at);
      this.setCollapsed(at, !this.collapsed.has(at));
    });
    viewport.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // without Ctrl the wheel scrolls as usual
      event.preventDefault();
      this.zoomTo(this.zoom * Math.exp(-event.deltaY / 400), { x: event.clientX, y: event.clientY });
    }, { passive: false });
    let start = null;
    viewport.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.button !== 0 || event.pointerType !== "mouse") return; // touch scrolls without our help
      start = { x: event.clientX + viewport.scrollLeft, y: event.clientY + viewport.scrollTop };
    });
    window.addEventListener("pointermove", (event) => {
      if (!start) return;
      const to = { left: start.x - event.clientX, top: start.y - event.clientY };
      this.dragged ||= Math.hypot(to.left - viewport.scrollLeft, to.top - viewport.scrollTop) > 4;
      if (this.dragged) viewport.scrollTo(to);
    });
    window.addEventListener("pointerup", () => { start = null; });
    this.actions = {
      in: () => this.zoomTo(this.zoom * 1.25),
      out: () => this.zoomTo(this.zoom / 1.25),
      fit: () => this.fit(),
      full: () => this.zoomTo(1),
      expand: () => this.collapseAll(false),
      collapse: () => this.collapseAll(true),
    };
    for (const button of document.querySelectorAll("[data-tree-action]")) {
      button.addEventListener("click", this.actions[button.dataset.treeAction]);
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = this.visible();
    const place = shown.findIndex((node) => node.at === this.focused);
    const node = shown[place];
    const go = (to) => to && this.focus(to.at);
    const keys = {
      ArrowDown: () => go(shown[place + 1]),
      ArrowUp: () => go(shown[place - 1]),
      ArrowRight: () => (this.collapsed.has(node.at) ? this.setCollapsed(node.at, false) : go(this.nodes.get(node.children[0]))),
      ArrowLeft: () => (node.open ? this.setCollapsed(node.at, true) : go(this.nodes.get(node.parent))),
      Home: () => go(shown[0]),
      End: () => go(shown.at(-1)),
      Enter: () => this.setCollapsed(node.at, !this.collapsed.has(node.at)),
      " ": () => this.setCollapsed(node.at, !this.collapsed.has(node.at)),
      "+": this.actions.in,
      "=": this.actions.in,
      "-": this.actions.out,
      0: this.actions.fit,
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }
}
