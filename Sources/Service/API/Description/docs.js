// Finds on the page, and copies what is shown. Everything can be read without this.

const search = document.getElementById("search");
const found = document.getElementById("found");
const entries = [...document.querySelectorAll("section, nav li, tr[id^=error-]")];
const texts = new Map(entries.map((entry) => [entry, entry.textContent.toLowerCase()]));
const headings = [...document.querySelectorAll("main > h2, nav h2")];

/** Shows what has all words, and the headings under which something is left. */
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const [entry, text] of texts) {
    entry.hidden = !words.every((word) => text.includes(word));
    if (!entry.hidden && !entry.closest("nav")) count += 1;
  }
  for (const heading of headings) {
    const below = [];
    for (let next = heading.nextElementSibling; next && next.localName !== heading.localName; next = next.nextElementSibling) {
      below.push(next, ...next.querySelectorAll("section, li, tr[id]"));
    }
    const own = below.filter((element) => texts.has(element));
    heading.hidden = words.length > 0 && own.length > 0 && own.every((element) => element.hidden);
  }
  found.textContent = words.length === 0 ? "" : count === 1 ? "1 result" : `${count} results`;
  const address = new URL(location);
  if (words.length === 0) address.searchParams.delete("q"); else address.searchParams.set("q", search.value);
  history.replaceState(null, "", address);
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const selection = document.getSelection();
    selection.selectAllChildren(button.parentElement.querySelector("pre"));
    button.textContent = "Selected. Press Ctrl+C or Cmd+C to copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

for (const pre of document.querySelectorAll("pre")) {
  const box = document.createElement("div");
  box.className = "copied";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => copy(button, pre.textContent));
  pre.replaceWith(box);
  box.append(pre, button);
}

search.closest("form").hidden = false;
search.closest("form").addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea")) return;
  event.preventDefault();
  search.focus();
});
search.value = new URL(location).searchParams.get("q") ?? "";
if (search.value) show();
