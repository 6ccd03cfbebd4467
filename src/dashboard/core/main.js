import { signInView } from "../views/sign_in.js";
import { fill } from "./dom.js";
import { createNotices } from "./notices.js";
import { Session } from "./session.js";
import { openShell } from "./shell.js";

/** The page: the sign-in form, then the shell with its views. */
function main() {
  const page = document.getElementById("page");
  if (page === null) return;
  const session = new Session(sessionStorage);
  const notices = createNotices();
  document.body.append(notices.element);

  /** @param {string} [sentence] Why a new sign-in is needed. */
  const showSignIn = (sentence) => {
    document.title = "Sign in · kvdrive";
    const { element, focus } = signInView(session, enter, sentence);
    fill(page, element);
    focus();
  };
  const enter = () => {
    const shell = openShell(page, { session, notices });
    session.onEnd((sentence) => {
      shell.close();
      for (const dialog of document.querySelectorAll("dialog")) dialog.close();
      notices.clear();
      showSignIn(sentence);
    });
  };
  if (session.credentials === undefined) showSignIn();
  else enter();
}

main();
