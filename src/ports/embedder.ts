/** Embedder: converts texts to vectors, so that facts are found by meaning. Optional: word search is the default. */
export interface Embedder {
  readonly name: string
  /** Contract: returns one vector per text, all of one length; deterministic. If it rejects, word search is used. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
}
