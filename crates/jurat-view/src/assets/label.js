
// Labels: one request for each, with what the page says about the case.

function labelPlace() {
  return document.querySelector("section.labels[data-labels]");
}

async function sendLabel(more) {
  const place = labelPlace();
  const say = (words) => {
    const status = place.querySelector("[data-answer]");
    if (status) status.textContent = words;
  };
  const note = place.querySelector("input[name=note]")?.value ?? "";
  const headers = { "content-type": "application/json", "x-jurat": "1" };
  const body = JSON.stringify({ ...JSON.parse(place.dataset.labels), note, ...more });
  say("saving …");
  try {
    const answer = await fetch("/labels", { method: "POST", headers, body });
    if (!answer.ok) {
      const words = await answer.text();
      say(`not saved: ${words.startsWith("{") ? JSON.parse(words).error : words}`);
      return;
    }
    if (place.dataset.next && more.state !== "removed") location.assign(place.dataset.next);
    else await refreshLabels(more);
  } catch (error) {
    say(`not saved: ${error.message}`);
  }
}

// Shows what the file says now, with the focus where it was.
async function refreshLabels(more) {
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  const fresh = page.querySelector("section.labels[data-labels]");
  const had = document.activeElement?.dataset ?? {};
  const key = had.key;
  labelPlace().replaceWith(fresh);
  localTimes(fresh);
  readyLabels();
  if (key !== undefined) (fresh.querySelector(`button[data-key="${key}"]`) ?? fresh.querySelector("button"))?.focus();
  const status = fresh.querySelector("[data-answer]");
  if (status) status.textContent = more.state === "removed" ? "taken back" : "saved";
}

function readyLabels() {
  const place = labelPlace();
  if (!place) return;
  for (const button of place.querySelectorAll("button[data-label], button[data-state], button[data-score]")) {
    button.addEventListener("click", () => {
      if (button.dataset.label !== undefined) return sendLabel({ label: button.dataset.label });
      if (button.dataset.state !== undefined) return sendLabel({ state: button.dataset.state });
      const score = place.querySelector("input[name=score]").valueAsNumber;
      return Number.isNaN(score) ? undefined : sendLabel({ score });
    });
  }
  // A note belongs to a label: it is saved with the next one, or at once where there is one.
  place.querySelector("input[name=note]")?.addEventListener("change", () => {
    const own = place.querySelector("button[aria-pressed=true]");
    if (own && !place.dataset.next) own.click();
  });
}

readyLabels();
if (document.querySelector("form.queue-of")) {
  addKey("b", "back to the case before", () => document.querySelector("section.queued a[rel=prev]")?.click());
  addKey("s", "skip the case: it comes again behind the others", () => document.querySelector("section.queued a[rel=next]")?.click());
  addKey("q", "to what is labelled: task, number, order", () => document.querySelector("form.queue-of select")?.focus());
}
if (labelPlace()) {
  for (let key = 0; key <= 9; key += 1) {
    addKey(String(key), key === 0 ? "take the label back" : `label ${key}`, () => labelPlace()?.querySelector(`button[data-key="${key}"]`)?.click());
  }
}
