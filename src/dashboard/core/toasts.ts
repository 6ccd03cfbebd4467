import { type ReadonlySignal, signal } from "@preact/signals";
import { sentenceOf } from "./api_error.ts";

export interface Toast {
  id: number;
  kind: "success" | "error" | "info";
  text: string;
  /** What the user can do about it, such as "Undo". */
  action?: { label: string; run: () => void };
}

/** How long a toast is shown, in milliseconds. One with an action or an error stays longer. */
const SHORT = 4000;
const LONG = 10_000;

/** Toasts at once: the oldest is removed. */
const MAX_TOASTS = 4;

/** The messages in the corner of the page. */
export class Toasts {
  readonly #shown = signal<readonly Toast[]>([]);
  readonly shown: ReadonlySignal<readonly Toast[]> = this.#shown;
  readonly #lists = signal<readonly object[]>([]);
  #next = 1;

  /** The list that shows them: the newest one, as a modal dialog covers those below it. */
  get list(): object | undefined {
    return this.#lists.value.at(-1);
  }

  /** Shows the messages in a list from now on. Returns a function that ends this. */
  attach(list: object): () => void {
    this.#lists.value = [...this.#lists.peek(), list];
    return () => void (this.#lists.value = this.#lists.peek().filter((one) => one !== list));
  }

  success(text: string, action?: Toast["action"]): void {
    this.#show("success", text, action);
  }

  info(text: string): void {
    this.#show("info", text);
  }

  error(error: unknown): void {
    this.#show("error", sentenceOf(error));
  }

  /** Runs the newest action that undoes something, if there is one. */
  undo(): void {
    const toast = this.#shown.value.findLast(({ action }) => action?.label === "Undo");
    if (toast === undefined) return;
    this.dismiss(toast.id);
    toast.action?.run();
  }

  dismiss(id: number): void {
    this.#shown.value = this.#shown.value.filter((toast) => toast.id !== id);
  }

  #show(kind: Toast["kind"], text: string, action?: Toast["action"]): void {
    const id = this.#next++;
    const toast = action === undefined ? { id, kind, text } : { id, kind, text, action };
    this.#shown.value = [...this.#shown.value, toast].slice(-MAX_TOASTS);
    setTimeout(() => this.dismiss(id), kind === "error" || action ? LONG : SHORT);
  }
}
