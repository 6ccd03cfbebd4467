/** The store cannot do it now, and may be able to soon: locked by another process, or its answer did not come. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** The store's disk has no room for what was to be written. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
}

/** Bytes that a record speaks of are not there, or not all of them. */
export class StoreDamaged extends Error {
  override readonly name = "StoreDamaged";
}

/** The data folder or the store in it cannot be used. The message is a sentence for the person who started us. */
export class CannotOpenStore extends Error {
  override readonly name = "CannotOpenStore";
}

/** Why a call on an upload cannot be served. */
export type UploadProblem = "absent" | "other name" | "completed" | "parts";

/** A call on an upload that cannot be served. The message is a sentence for the caller. */
export class UploadRefused extends Error {
  override readonly name = "UploadRefused";

  constructor(readonly problem: UploadProblem, message: string) {
    super(message);
  }
}
