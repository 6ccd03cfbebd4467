import { ApiError, refused, unreachable } from "../core/api_error.js";
import { h } from "../core/dom.js";
import { headersOf } from "../core/session.js";

/** @import { Session } from "../core/session.js" */
/** @import { Credentials } from "../core/types.d.ts" */

/** A project key is `<project id>_<secret>`. */
const KEY = /^([A-Za-z0-9-]{1,64})_./;

/** Characters that are valid in a header; keys consist of them. */
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * The sign-in form. One field accepts both kinds of secrets.
 *
 * @param {Session} session
 * @param {() => void} onEnter Called after the sign-in.
 * @param {string} [sentence] The reason for a new sign-in.
 */
export function signInView(session, onEnter, sentence = "") {
  const problem = h("p", { class: "problem", id: "problem", role: "alert" }, sentence);
  const input = h("input", {
    id: "secret",
    type: "password",
    autocomplete: "current-password",
    autocapitalize: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "secret-hint problem",
  });
  const button = h("button", { class: "primary" }, "Sign in");
  const form = h(
    "form",
    { class: "stack", novalidate: true },
    h("label", { for: "secret" }, "Administrator’s token or project key"),
    input,
    h("p", { class: "hint", id: "secret-hint" }, HINT),
    problem,
    button,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    button.disabled = true;
    try {
      session.start(await signIn(input.value.trim()));
      onEnter();
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
      input.setAttribute("aria-invalid", "true");
      input.focus();
      input.select();
    } finally {
      button.disabled = false;
    }
  });
  const element = h("main", { class: "sign-in" }, h("h1", {}, "Sign in to kvdrive"), form);
  return { element, focus: () => input.focus() };
}

const HINT = "The first start of the server printed both. The token opens all projects, a key " +
  "opens its own project. Either is kept in this tab only, until you close it or sign out.";

const UNKNOWN = "This is neither the administrator’s token nor a key of a project here";

/**
 * Determines whether a secret is the administrator's token or a project key.
 *
 * @param {string} secret
 * @returns {Promise<Credentials>}
 * @throws {Error} If the server does not accept it.
 */
async function signIn(secret) {
  if (secret === "") throw new Error("Enter the administrator’s token or a project key");
  if (!SENDABLE.test(secret)) {
    throw new Error("This is not a token or key: they contain neither spaces nor accented letters");
  }
  const project = KEY.exec(secret)?.[1];
  /** @type {Credentials} */
  const asToken = { kind: "admin", secret };
  if (project === undefined) return await verify(asToken, "/admin/v1/projects");
  const path = `/admin/v1/projects/${encodeURIComponent(project)}`;
  try {
    return await verify({ kind: "project", secret, project }, path);
  } catch (error) {
    // A chosen token may look like a project key.
    return await verify(asToken, "/admin/v1/projects").catch(() => Promise.reject(error));
  }
}

/**
 * Checks credentials with a request.
 *
 * @param {Credentials} credentials
 * @param {string} path The path that the credentials must open.
 * @returns {Promise<Credentials>}
 */
async function verify(credentials, path) {
  const headers = headersOf(credentials);
  const response = await fetch(path, { headers, credentials: "omit", cache: "no-store" })
    .catch(() => {
      throw unreachable();
    });
  const { status } = response;
  const text = await response.text();
  // The server's sentence is about headers, for programs.
  if (status === 401) throw new ApiError(status, UNKNOWN);
  if (!response.ok) throw refused(status, text);
  return credentials;
}
