import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError } from "../core/api_error.ts";
import { inParallel, Limiter, REQUESTS_AT_ONCE } from "../core/concurrency.ts";
import { type App, createShared, useApp } from "../core/context.ts";
import { plural } from "../core/format.ts";
import { DriveFiles } from "../files/actions/drive_files.ts";
import { folderOf, type Place } from "../files/entry.ts";
import type { UploadItem } from "./chosen_files.ts";
import { prepare } from "./preparation.ts";
import { keyOf, UploadRecords } from "./upload/records.ts";
import { ServerCalls, type UploadTarget } from "./upload/server_calls.ts";
import { UploadThumbnails } from "./upload/thumbnails.ts";
import { type UploadSource, UploadTask, type UploadTools } from "./upload/upload_task.ts";

/**
 * Files at once. Of small ones there are more than the six connections of HTTP/1.1: what waits in the browser is sent as
 * soon as a connection is free, also while the page is busy, and HTTP/2 sends all at once.
 */
const SMALL_AT_ONCE = 12;
const LARGE_AT_ONCE = 5;
/** Times between two updates of what is shown, in milliseconds; the longer one while nothing arrives. */
const TICK = 300;
const IDLE_TICK = 1000;
/** The least time between two updates of lists of files, in milliseconds. */
const FINISHED_INTERVAL = 1000;
/** Begins the name of the lock that a tab holds as long as it is open. */
const TAB_LOCK = "kvdrive.tab.";

/** The uploads of this page. They continue when the view changes. */
export class Transfers {
  readonly #finished = signal<readonly Place[]>([]);
  /** The folders in which uploads finished last: their lists load what is new. */
  readonly finished: ReadonlySignal<readonly Place[]> = this.#finished;
  readonly #version = signal(0);
  /** Changes a few times a second while uploads do. */
  readonly version: ReadonlySignal<number> = this.#version;
  readonly #step = signal("");
  /** What is done before files are sent, such as "Reading 300 files…"; otherwise empty. */
  readonly step: ReadonlySignal<string> = this.#step;
  readonly server: ServerCalls;
  readonly #tools: UploadTools;
  readonly #leaving = new AbortController();
  #tasks: UploadTask[] = [];
  #running = 0;
  #places = new Map<string, Place>();
  #announced = 0;
  #timer: number | undefined;
  #isTicking = false;

  constructor(readonly app: App) {
    this.server = new ServerCalls(app);
    const thumbnails = new UploadThumbnails(app, this.server);
    this.#tools = {
      server: this.server,
      records: new UploadRecords(localStorage),
      requests: new Limiter(REQUESTS_AT_ONCE),
      tab: Math.random().toString(36).slice(2),
      wait: (...wait) => this.#wait(...wait),
      addThumbnail: (...upload) => thumbnails.add(...upload),
      onChange: () => this.#changed(),
    };
  }

  /** In the order in which they were added. */
  get tasks(): readonly UploadTask[] {
    return this.#tasks;
  }

  /** Whether it sends as many files as it may. */
  get isBusy(): boolean {
    return this.#running >= LARGE_AT_ONCE;
  }

  /** Returns whether this page is sending a file: its bytes may be stored while its thumbnail is not. */
  isSending(target: UploadTarget): boolean {
    const key = keyOf(target);
    return this.#tasks.some(({ isSending, record }) => isSending && keyOf(record) === key);
  }

  /** Begins to work: continues what an earlier page left, and asks before the page is closed. */
  open(): void {
    const { signal } = this.#leaving;
    addEventListener("beforeunload", (event) => {
      if (this.#tasks.some(({ isActive, isSending }) => isActive || isSending)) {
        event.preventDefault();
      }
    }, { signal });
    addEventListener("pagehide", () => this.#remember(), { signal });
    for (const type of ["dragover", "drop"] as const) {
      addEventListener(type, refuseFiles, { signal });
    }
    this.#restore().catch((error) => this.app.toasts.error(error));
  }

  /** Stops all uploads, as the session ended. They can be resumed. */
  close(): void {
    this.#remember();
    this.#leaving.abort();
    clearTimeout(this.#timer);
    for (const task of this.#tasks) task.stop();
    this.#tasks = [];
  }

  /**
   * Sends files to a folder, after asking about conflicts and checking size and quota.
   *
   * @param folders Paths of folders without content, which end with a slash.
   */
  async upload(
    place: Place,
    items: readonly UploadItem[],
    folders: readonly string[] = [],
  ): Promise<void> {
    await this.during(
      items.length > 1 ? `Preparing ${plural(items.length, "file")}…` : "Preparing…",
      async () => {
        const sources = await prepare(this.app, place, items);
        this.#add(sources);
        const files = new DriveFiles(this.app.api, place);
        for (const folder of folders) await files.createFolder(place.path + folder);
        if (folders.length > 0) this.#store(place);
      },
    );
  }

  /** Shows a step until an action ends, and what the action throws. */
  async during<T>(
    step: string,
    action: (show: (step: string) => void) => Promise<T>,
  ): Promise<T | undefined> {
    const show = (step: string) => void (this.#step.value = step);
    show(step);
    try {
      return await action(show);
    } catch (error) {
      this.app.toasts.error(error);
      return undefined;
    } finally {
      show("");
    }
  }

  pause(tasks: readonly UploadTask[] = this.#tasks): void {
    for (const task of tasks) task.pause();
  }

  /** Lets paused and failed uploads run again. */
  resume(tasks: readonly UploadTask[] = this.#tasks): void {
    for (const task of tasks) task.resume();
    this.#pump();
  }

  /** Continues an upload of an earlier page. @throws {Error} If the file is another one. */
  resumeWith(task: UploadTask, file: File): void {
    if (!task.isOf(file)) {
      throw new Error(`“${file.name}” is another file, or it was changed since`);
    }
    task.resume(file);
    this.#pump();
  }

  /** Ends uploads, also on the server, and takes them off the list. */
  cancel(tasks: readonly UploadTask[]): void {
    for (const task of tasks) task.cancel();
    this.#tasks = this.#tasks.filter(({ state }) => state !== "canceled");
    this.#changed();
  }

  clearDone(): void {
    this.#tasks = this.#tasks.filter(({ state }) => state !== "done");
    this.#changed();
  }

  /**
   * An unfinished upload of the same file continues; another file for the same name replaces it: of two at once, either
   * could be stored last.
   */
  #add(sources: readonly UploadSource[]): void {
    if (!this.#tasks.some(({ isActive }) => isActive)) this.clearDone();
    const known = new Map(this.#tasks.map((task) => [keyOf(task.record), task]));
    const replaced = new Set<UploadTask>();
    for (const source of sources) {
      const key = keyOf(source.target);
      const earlier = known.get(key);
      if (earlier !== undefined && earlier.state !== "done" && earlier.isOf(source.file)) {
        earlier.resume(source.file);
        continue;
      }
      if (earlier !== undefined) replaced.add(earlier);
      const task = UploadTask.of(source, this.#tools);
      this.#tasks.push(task);
      known.set(key, task);
    }
    for (const task of replaced) task.cancel();
    this.#tasks = this.#tasks.filter((task) => !replaced.has(task));
    this.#pump();
    this.#changed();
  }

  #pump(): void {
    while (true) {
      const task = this.#tasks.find(({ state }) => state === "waiting");
      if (task === undefined) return;
      if (this.#running >= (task.isSmall ? SMALL_AT_ONCE : LARGE_AT_ONCE)) return;
      this.#running++;
      void task.run().then(() => this.#ended(task));
    }
  }

  #ended(task: UploadTask): void {
    this.#running--;
    const { project, drive, name } = task.record;
    if (task.state === "done") this.#store({ project, drive, path: folderOf({ name }) });
    // Where one file does not fit, or may not go, the others would be sent in vain.
    if (task.state === "failed" && [403, 507].includes(task.status)) {
      const others = this.#tasks.filter(({ state, record }) =>
        state === "waiting" && record.project === project && record.drive === drive
      );
      for (const other of others) other.fail(new Error("Not sent, for the same reason"));
    }
    this.#pump();
  }

  #store(place: Place): void {
    this.#places.set(JSON.stringify(place), place);
    this.#changed();
  }

  #changed(): void {
    if (this.#isTicking || this.#leaving.signal.aborted) return;
    this.#isTicking = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), TICK);
  }

  #tick(): void {
    this.#isTicking = false;
    const now = performance.now();
    batch(() => {
      this.#version.value++;
      const isDue = this.#running === 0 || now - this.#announced > FINISHED_INTERVAL;
      if (this.#places.size === 0 || !isDue) return;
      this.#announced = now;
      this.#finished.value = [...this.#places.values()];
      this.#places.clear();
    });
    // The speed that is shown decreases while nothing arrives.
    if (this.#running > 0) this.#timer = setTimeout(() => this.#tick(), IDLE_TICK);
  }

  /** Waits for a time; if the server was out of reach, not longer than until it answers again. */
  #wait(milliseconds: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { connection } = this.app;
    const isLost = error instanceof ApiError && error.status === 0;
    if (isLost) connection.failed(0);
    return new Promise((resolve, reject) => {
      const { value } = connection.restored;
      const end = () => {
        clearTimeout(timer);
        unsubscribe();
        signal.removeEventListener("abort", end);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(end, milliseconds);
      const unsubscribe = connection.restored.subscribe((now) => {
        if (isLost && now !== value) queueMicrotask(end);
      });
      signal.addEventListener("abort", end);
    });
  }

  /** Uploads of earlier pages, unless another tab sends them. */
  async #restore(): Promise<void> {
    const { records, tab } = this.#tools;
    // Browsers have locks where the page came with HTTPS.
    const locks: LockManager | undefined = navigator.locks;
    const { held = [] } = await locks?.query() ?? {};
    const tabs = new Set(held.map(({ name }) => name));
    const { signal } = this.#leaving;
    void locks?.request(
      TAB_LOCK + tab,
      () => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    const { role, project_id } = this.app.session.current.value ?? {};
    const mine = records.all().filter(({ project, tab }) =>
      (role === "admin" || project === project_id) && !tabs.has(TAB_LOCK + tab)
    );
    if (mine.length === 0) return;
    const tasks = mine.map((record) => UploadTask.ofRecord(record, this.#tools));
    this.#tasks.unshift(...tasks);
    this.#changed();
    await inParallel(tasks, (task) => task.look());
  }

  /** Remembers what has not been sent, as the page ends. */
  #remember(): void {
    const lost = this.#tasks.filter(({ state, isRecorded }) =>
      !isRecorded && state !== "done" && state !== "canceled"
    );
    this.#tools.records.save(lost.map(({ record }) => record));
    for (const task of lost) task.isRecorded = true;
  }
}

/** Where no view takes dropped files, the browser would show one in place of the page. */
function refuseFiles(event: DragEvent): void {
  const { dataTransfer, defaultPrevented } = event;
  if (defaultPrevented || !dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  dataTransfer.dropEffect = "none";
}

export const [TransfersContext, useSharedTransfers] = createShared<Transfers>("TransfersContext");

/** Makes the transfers of a session, for the shell. */
export function useTransfers(): Transfers {
  const app = useApp();
  const transfers = useMemo(() => new Transfers(app), []);
  useEffect(() => {
    transfers.open();
    return () => transfers.close();
  }, []);
  return transfers;
}
