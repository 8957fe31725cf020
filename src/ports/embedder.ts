/** Embedder: texts as vectors, so that what means the same is found also where no word is the same. Optional: without one, words decide. */
export interface Embedder {
  readonly name: string
  /** Contract: a vector for each text, all of one length; the same text always has the same. May reject: then words decide. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
}
