import { fill } from "./dom.js";
import { links } from "./links.js";
import { findRoute } from "./routes.js";

/** @import { Context, View } from "./types.d.ts" */
/** @import { Route } from "./routes.js" */

/** Shows the view that the address selects. */
export class Router {
  #outlet;
  #context;
  #onRoute;
  /** @type {View | undefined} */
  #view;
  #leaving = new AbortController();
  #listening = new AbortController();

  /**
   * @param {HTMLElement} outlet
   * @param {Omit<Context, "signal" | "go">} context
   * @param {(route: Route | undefined) => void} onRoute Called before each view is shown.
   */
  constructor(outlet, context, onRoute) {
    this.#outlet = outlet;
    this.#context = context;
    this.#onRoute = onRoute;
  }

  /** Starts following the address. */
  start() {
    const { signal } = this.#listening;
    globalThis.addEventListener("hashchange", () => this.#show(), { signal });
    this.#show();
  }

  /** Closes the open view and stops following the address. */
  stop() {
    this.#listening.abort();
    this.#leave();
  }

  #show() {
    this.#leave();
    const { signal } = this.#leaving;
    const route = findRoute(location.hash);
    if (route === undefined || !mayOpen(route, this.#context)) {
      return location.replace(homeOf(this.#context));
    }
    this.#onRoute(route);
    this.#view = route.open({ ...this.#context, signal, go }, route.params);
    this.#put(this.#view);
  }

  #leave() {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    this.#view?.close?.();
    this.#view = undefined;
  }

  /** @param {View} view */
  #put({ title, element }) {
    document.title = `${title} · kvdrive`;
    fill(this.#outlet, element);
    globalThis.scrollTo(0, 0);
    // Screen readers and the next Tab start at the new view's heading.
    const heading = element.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
}

/** @param {string} hash */
function go(hash) {
  location.hash = hash;
}

/** An owner has one project. @param {Route} route @param {Pick<Context, "session">} context */
function mayOpen({ params }, { session }) {
  const { credentials } = session;
  return credentials?.kind !== "project" || credentials.project === params.project;
}

/** The first page of a session. @param {Pick<Context, "session">} context @returns {string} */
export function homeOf({ session }) {
  const { credentials } = session;
  return credentials?.kind === "project" ? links.project(credentials.project) : links.projects();
}
