// Keeps a page as it is on the server, while somebody looks. Everything else works without this.

const main = document.getElementById("main");
const status = document.getElementById("status");
const stale = document.getElementById("stale");
const policy = globalThis.trustedTypes?.createPolicy("satchel", { createHTML: (text) => text })
  ?? { createHTML: (text) => text };

let last = null;
let seen = new Date();

function isKept(element, name) {
  if (name === "open" && element.localName === "details") return true;
  return name === "hidden" && element.matches("img.before, [data-play]");
}

function isSame(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id ?? "") === (other.id ?? "");
}

/** Makes a node like another, and leaves alone what is alike: focus, what plays, what is open. */
function follow(node, wanted) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== wanted.data) node.data = wanted.data;
    return;
  }
  if (node.isEqualNode(wanted)) return;
  for (const { name, value } of wanted.attributes) {
    if (node.getAttribute(name) !== value && !isKept(node, name)) node.setAttribute(name, value);
  }
  for (const { name } of [...node.attributes]) {
    if (!wanted.hasAttribute(name) && !isKept(node, name)) node.removeAttribute(name);
  }
  if (node.matches("textarea, select, input, iframe")) return;
  let place = node.firstChild;
  for (const next of [...wanted.childNodes]) {
    const named = next.id ? [...node.children].find((child) => child.id === next.id) : null;
    if (named && named !== place && named.nodeName === next.nodeName) {
      node.insertBefore(named, place);
      follow(named, next);
    } else if (place && isSame(place, next)) {
      follow(place, next);
      place = place.nextSibling;
    } else {
      node.insertBefore(document.importNode(next, true), place);
    }
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    gone.remove();
  }
}

/** What somebody has chosen, types, or is about to open stays under their hands. */
function isBusy() {
  const selection = document.getSelection();
  if (selection && !selection.isCollapsed && main.contains(selection.anchorNode)) return true;
  return document.activeElement?.matches("input, select, textarea") ?? false;
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { "Satchel-Refresh": "1" }, redirect: "manual" });
  if (answer.type === "opaqueredirect") return location.reload();
  const text = await answer.text();
  if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error("no page");
  seen = new Date();
  stale.hidden = true;
  if (text === last || isBusy()) return;
  last = text;
  const page = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
  const wanted = page.getElementById("main");
  if (!wanted) return;
  const said = main.dataset.says;
  follow(main, wanted);
  document.title = page.title;
  if (main.dataset.says && main.dataset.says !== said) status.textContent = main.dataset.says;
  play();
}

let stream = null;
let isChanged = false;
let wake = () => {};

function hear() {
  isChanged = true;
  wake();
}

/** What says itself when it has changed is listened to while somebody looks, and asked rarely. */
function listen() {
  const url = document.visibilityState === "visible" ? main.dataset.events : undefined;
  if (stream && (!url || stream.readyState === EventSource.CLOSED)) {
    stream.close();
    stream = null;
  }
  if (url && !stream) {
    stream = new EventSource(url);
    const names = ["accepted", "started", "stage", "progress", "rendition", "postponed", "finished"];
    for (const name of names) stream.addEventListener(name, hear);
  }
  return stream?.readyState === EventSource.OPEN;
}

async function keep() {
  const often = Number(main.dataset.refresh) || 2000;
  for (;;) {
    // So much at least between two looks, whatever is heard.
    await new Promise((done) => setTimeout(done, often / 10));
    const time = (listen() ? 5 : 0.9) * often;
    if (!isChanged) {
      await new Promise((done) => {
        wake = done;
        setTimeout(done, time);
      });
    }
    isChanged = false;
    if (document.visibilityState !== "visible" || !main.dataset.refresh) continue;
    try {
      await refresh();
    } catch {
      stale.textContent = `The server doesn't answer. This page is as of ${seen.toLocaleTimeString()}.`;
      stale.hidden = false;
    }
  }
}

/** A picture that is there takes the place of what stood in for it. */
function settle(picture) {
  if (!(picture instanceof HTMLImageElement) || !picture.matches("img.there") || !picture.complete) return;
  const before = picture.previousElementSibling;
  if (before?.matches("img.before") && picture.naturalWidth > 0) before.hidden = true;
}

/** Who wants no motion starts it. */
function play() {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const button of document.querySelectorAll("[data-play][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      button.previousElementSibling?.querySelector("source")?.remove();
      button.remove();
    });
  }
}

document.addEventListener("load", (event) => settle(event.target), true);
for (const picture of document.images) settle(picture);
play();
if (main.dataset.refresh) {
  document.addEventListener("visibilitychange", listen);
  listen();
  keep();
}
