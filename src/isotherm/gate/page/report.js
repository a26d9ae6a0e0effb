// A link to a diff, from the strip or from outside, opens it.
function open() {
  const diff = location.hash && document.getElementById(location.hash.slice(1));
  if (diff) {
    diff.open = true;
    diff.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
