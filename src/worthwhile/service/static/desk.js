// Adds to pages that work without it: shortcuts, and a notice that somebody else changed the case.
"use strict";

const typing = (element) => element.closest("input, select, textarea") !== null;

function focusFirst(...selectors) {
  const found = selectors.map((selector) => document.querySelector(selector)).find((element) => element !== null);
  if (found) {
    found.focus();
    found.scrollIntoView({ block: "center" });
  }
  return Boolean(found);
}

const KEYS = {
  "/": () => focusFirst("#search") || location.assign("/"),
  n: () => location.assign("/cases/new"),
  w: () => location.assign("/"),
  o: () => focusFirst("#order"),
  r: () => focusFirst("#results select", "#results input:not([type=hidden])"),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

// A form is sent once, even if its button is pressed twice.
document.addEventListener("submit", (event) => {
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

const { case: caseId, version } = document.body.dataset;
if (caseId) {
  const look = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(`/cases/${caseId}/version`, { credentials: "same-origin", redirect: "error" });
      if (answer.ok && (await answer.json()).version > Number(version)) {
        document.getElementById("changed").hidden = false;
      }
    } catch {
      // The server is away; the next look will tell.
    }
  };
  setInterval(look, 10_000);
  document.addEventListener("visibilitychange", look);
}
