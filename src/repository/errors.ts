/** A target or a repository cannot be used. The message is a sentence for a person. */
export class RepositoryError extends Error {
  override readonly name = this.constructor.name;
}

/** There is no repository in a target. */
export class NoRepository extends RepositoryError {
  constructor(place: string) {
    super(
      `There is no repository in ${place}: check the name, or make one with kvdrive backup --to`,
    );
  }
}

/** An object of a repository is missing, or has other bytes than it should. */
export class DamagedObject extends RepositoryError {
  /** @param problem The damage, as the end of a sentence. */
  constructor(readonly object: string, readonly problem: string) {
    super(`The object ${object} of the repository ${problem}`);
  }
}

/** Bytes that do not have the form of the format. The message is the end of a sentence. */
export class BadFormat extends Error {
  override readonly name = "BadFormat";
}
