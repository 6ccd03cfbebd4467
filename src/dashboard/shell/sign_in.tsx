import { LogIn } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, sentenceOf } from "../core/api_error.ts";
import type { SessionStore } from "../core/session.ts";
import { TextField } from "../ui/field.tsx";
import { Icon, Logo } from "../ui/icon.tsx";
import { useTitle } from "../ui/page.tsx";

/** Characters that are valid in a header; keys consist of them. */
const SENDABLE = /^[\x21-\x7e]+$/;

const UNKNOWN = "This is neither the administrator’s token nor a key of a project here";

/**
 * Returns the sign-in code of an address such as `#code=once_…`, which the server prints at its start. A key is not
 * accepted: a link with a key could make others work in the project of its author without noticing.
 */
export function codeIn(hash: string): string | undefined {
  return /^#code=(once_[A-Za-z0-9]{32})$/.exec(hash)?.[1];
}

/** The sign-in page. One field takes the token and project keys. */
export function SignIn({ session }: { session: SessionStore }) {
  useTitle("Sign in");
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState(session.reason.value);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const signIn = async (secret: string, unknown: string) => {
    setBusy(true);
    setProblem("");
    try {
      await session.signIn(checked(secret));
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.status === 401;
      setProblem(isUnknown ? unknown : sentenceOf(error));
      form.current?.querySelector("input")?.select();
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    const code = codeIn(location.hash);
    form.current?.querySelector("input")?.focus();
    if (code === undefined) return;
    // The code leaves the address, and the history, before it is used.
    history.replaceState(null, "", "#/");
    globalThis.dispatchEvent(new HashChangeEvent("hashchange"));
    void signIn(code, "This sign-in link was used already, or has expired");
  }, []);

  return (
    <main class="sign-in">
      <form
        ref={form}
        class="sign-in-card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(secret.trim(), UNKNOWN);
        }}
      >
        <Logo size={44} />
        <h1>Sign in to kvdrive</h1>
        <TextField
          label="Administrator’s token or project key"
          hint="The first start of the server printed both."
          type="password"
          name="secret"
          autocomplete="current-password"
          autocapitalize="off"
          spellcheck={false}
          value={secret}
          problem={problem}
          onInput={setSecret}
        />
        <button type="submit" class="button primary" aria-busy={isBusy || undefined}>
          <Icon of={LogIn} />
          Sign in
        </button>
      </form>
    </main>
  );
}

/** @throws {Error} For what no server can accept. */
function checked(secret: string): string {
  if (secret === "") throw new Error("Enter the administrator’s token or a project key");
  if (SENDABLE.test(secret)) return secret;
  throw new Error("Tokens and keys contain neither spaces nor accented letters");
}
