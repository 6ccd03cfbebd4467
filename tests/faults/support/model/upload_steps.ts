import type { Answer } from "../../../support/answer.ts";
import { type Drive, query, Upload, type UploadDetails } from "../../../support/drive.ts";
import { type Guard, show, typeOf } from "./file_steps.ts";
import type { Outcome } from "./history.ts";
import {
  bytesOf,
  type Effect,
  joinParts,
  newBody,
  sizeOf,
  type UploadState,
  withFile,
  withUpload,
} from "./state.ts";
import { type FileRef, type KnownUpload, type Step, unexpected, type World } from "./world.ts";

type Parts = Exclude<UploadState, "completed">;

/** Starts an upload whose parts have the sizes in `plan`. */
export function start(world: World, ref: FileRef, plan: readonly number[]): Step {
  const source = world.newSource("upload", plan);
  const request = `start ${source.id} of ${plan.join(" + ")}`;
  return {
    request,
    refs: [ref],
    send: (drive) =>
      drive.send("POST", `/uploads${query({ name: ref.name })}`, {
        headers: { "Content-Type": typeOf(source) },
      }),
    outcomeOf(answer): Outcome {
      if (answer.status !== 202) throw unexpected(answer, request);
      const { upload_id: uploadId } = answer.json as UploadDetails;
      world.addUpload(ref, { ...source, uploadId });
      return { text: "202", effect: (state) => withUpload(state, source.id, {}) };
    },
    // Its id is unknown, so that no client can complete it.
    lost: () => undefined,
  };
}

/** Returns the meaning of a response that shows the state of an upload. Not for completions. */
function stateOutcome(upload: KnownUpload, { status }: Answer): Outcome | undefined {
  const only = (fits: (state: UploadState | undefined) => boolean): Outcome => ({
    text: String(status),
    effect: (state) => fits(state.uploads[upload.id]) ? state : undefined,
    pure: true,
  });
  if (status === 404) return only((state) => state === undefined);
  if (status === 409) return only((state) => state === "completed");
  return undefined;
}

/** Returns an effect on an open upload. */
function ifOpen(upload: KnownUpload, act: (parts: Parts) => UploadState | undefined): Effect {
  return (state) => {
    const parts = state.uploads[upload.id];
    if (parts === undefined || parts === "completed") return undefined;
    return withUpload(state, upload.id, act(parts));
  };
}

/** Returns a call that succeeds with 200 if the upload is open. */
function callOn(
  upload: KnownUpload,
  ref: FileRef,
  { request, effect, send }: {
    request: string;
    effect: Effect;
    send: (upload: Upload) => Promise<Answer>;
  },
): Step {
  return {
    request,
    refs: [ref],
    send: (drive) => send(handle(drive, ref, upload)),
    outcomeOf(answer): Outcome {
      if (answer.status === 200) return { text: "200", effect };
      const outcome = stateOutcome(upload, answer);
      if (outcome === undefined) throw unexpected(answer, request);
      return outcome;
    },
    lost: () => ({ text: "done", effect }),
  };
}

function handle(drive: Drive, ref: FileRef, upload: KnownUpload): Upload {
  return new Upload(drive, ref.name, upload.uploadId);
}

export function sendPart(upload: KnownUpload, ref: FileRef, part: number): Step {
  const body = newBody(upload.plan[part - 1] ?? 0);
  upload.sent[part - 1]?.push(body);
  return callOn(upload, ref, {
    request: `part ${part} of ${upload.id}: ${body}`,
    effect: ifOpen(upload, (parts) => ({ ...parts, [part]: body })),
    send: (one) => one.send(part, bytesOf(body)),
  });
}

export function abort(upload: KnownUpload, ref: FileRef): Step {
  return callOn(upload, ref, {
    request: `abort ${upload.id}`,
    effect: ifOpen(upload, () => undefined),
    send: (one) => one.abort(),
  });
}

export function complete(upload: KnownUpload, ref: FileRef, guard: Guard): Step {
  const request = `complete ${upload.id}${show(guard.headers)}`;
  const effect = completion(upload, guard);
  return {
    request,
    refs: [ref],
    send: (drive) => handle(drive, ref, upload).complete(guard.headers),
    outcomeOf(answer): Outcome {
      const { status } = answer;
      if (status === 200) return { text: "200", effect };
      const text = String(status);
      if (status === 400) return { text, effect: whereParts(upload, isInvalid), pure: true };
      if (status === 412) {
        const rejected: Effect = (state) =>
          guard.holds(state.file)
            ? undefined
            : whereParts(upload, (parts) => !isInvalid(parts))(state);
        return { text, effect: rejected, pure: true };
      }
      const outcome = status === 404 ? stateOutcome(upload, answer) : undefined;
      if (outcome === undefined) throw unexpected(answer, request);
      return outcome;
    },
    lost: () => ({ text: "completed", effect }),
  };
}

function isInvalid(parts: Parts): boolean {
  return joinParts(parts) === undefined;
}

/** Returns an effect that changes nothing and is possible for an open upload with matching parts only. */
function whereParts({ id }: KnownUpload, fits: (parts: Parts) => boolean): Effect {
  return (state) => {
    const parts = state.uploads[id];
    return parts !== undefined && parts !== "completed" && fits(parts) ? state : undefined;
  };
}

/** Returns the effect of a completion. Repeating it changes nothing. */
function completion({ id }: KnownUpload, guard: Guard): Effect {
  return (state) => {
    const parts = state.uploads[id];
    if (parts === "completed") return state;
    const bodies = parts === undefined ? undefined : joinParts(parts);
    if (bodies === undefined || !guard.holds(state.file)) return undefined;
    return withFile(withUpload(state, id, "completed"), { source: id, bodies });
  };
}

/** Reads the parts of an upload. */
export function look(upload: KnownUpload, ref: FileRef): Step {
  const request = `look at ${upload.id}`;
  return {
    request,
    refs: [ref],
    send: (drive) => handle(drive, ref, upload).lookUp(),
    outcomeOf(answer): Outcome {
      const outcome = answer.status === 200 ? partsOutcome(upload, answer) : undefined;
      const other = outcome ?? stateOutcome(upload, answer);
      if (other === undefined) throw unexpected(answer, request);
      return other;
    },
    lost: () => undefined,
  };
}

function partsOutcome(upload: KnownUpload, answer: Answer): Outcome {
  const { parts } = answer.json as UploadDetails;
  const text = JSON.stringify(parts.map(({ part, size }) => [part, size]));
  const isSame = (known: Parts): boolean =>
    JSON.stringify(Object.entries(known).map(([n, body]) => [Number(n), sizeOf(body)])) === text;
  return { text: `200 ${text}`, effect: whereParts(upload, isSame), pure: true };
}
