/** STATE.md: outside of the runtime block exactly the text of its users, and exactly one runtime block (I7). */

import { textOutsideBlock } from '../../../src/domain/runtime-block.ts'
import type { Batch, BatchOutcome } from '../../../src/ports/store.ts'
import type { World } from '../world.ts'

export const SEED_STATE = '# Kernel State\n\n## notes\n(none yet)\n'
const MARK = '<!-- KERNEL_RUNTIME:START -->'

export class StateDocument {
  readonly #world: World
  /** Number of user edits in the last version. */
  #taken = 0
  #edits = 0
  #replaced = 0
  #latest: string | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** A user saves the file with one more line. */
  edit(): void {
    const { files, counters } = this.#world
    const text = files.get('STATE.md')
    if (text === undefined || text === '') return
    counters.add('STATE.md edited by a user')
    this.#edits += 1
    files.set('STATE.md', text.replace('## notes\n', `## notes\n${lineOf(this.#edits)}`))
  }

  /** Contract: called whenever a file is about to be replaced. */
  onReplace(): void {
    this.#replaced += 1
    for (const action of this.#world.plan.actions)
      if (action.kind === 'edit' && action.duringReplace === this.#replaced) this.edit()
  }

  /** Contract: called with every applied commit. */
  onCommit(batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    for (const [i, { ops }] of batches.entries())
      for (const op of ops)
        if (outcomes[i]?.ok && op.op === 'document' && op.name === 'STATE.md') this.#version(op.text)
  }

  #version(text: string): void {
    this.#latest = text
    const outside = textOutsideBlock(text)
    const blocks = text.split(MARK).length - 1
    if (blocks > 1) this.#world.fail('I7', `STATE.md has ${blocks} blocks`)
    while (this.#taken < this.#edits && outside !== writtenBy(this.#taken)) this.#taken += 1
    if (outside !== writtenBy(this.#taken))
      this.#world.fail(
        'I7',
        `users wrote ${JSON.stringify(writtenBy(this.#edits))}, STATE.md has ${JSON.stringify(outside)}`,
      )
  }

  checkEnd(): void {
    const file = this.#world.files.get('STATE.md')
    if (file !== this.#latest) this.#world.fail('I7', `the file STATE.md contains ${JSON.stringify(file)}`)
    if (this.#taken !== this.#edits) this.#world.fail('I7', `${this.#edits - this.#taken} edits of STATE.md are lost`)
    if (file?.split(MARK).length !== 2) this.#world.fail('I7', `STATE.md has no block: ${JSON.stringify(file)}`)
  }
}

const lineOf = (n: number): string => `- by hand ${n}\n`

/** The newest line comes first. */
const writtenBy = (edits: number): string => {
  const lines = Array.from({ length: edits }, (_, i) => lineOf(edits - i)).join('')
  return SEED_STATE.replace('## notes\n', `## notes\n${lines}`)
}
