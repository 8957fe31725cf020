/** STATE.md: outside the runtime's block exactly what people wrote, whatever happens; inside it one block (I7). */

import { textOutsideBlock } from '../../../src/domain/runtime-block.ts'
import type { Batch, BatchOutcome } from '../../../src/ports/store.ts'
import type { World } from '../world.ts'

export const SEED_STATE = '# Kernel State\n\n## notes\n(none yet)\n'
const MARK = '<!-- KERNEL_RUNTIME:START -->'

export class StateDocument {
  readonly #world: World
  /** How many edits of people the last version has. */
  #taken = 0
  #edits = 0
  #replaced = 0
  #latest: string | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** Somebody opens the file and saves it with a line more. */
  edit(): void {
    const { files, counters } = this.#world
    const text = files.get('STATE.md')
    if (text === undefined || text === '') return
    counters.add('STATE edited by hand')
    this.#edits += 1
    files.set('STATE.md', text.replace('## notes\n', `## notes\n${lineOf(this.#edits)}`))
  }

  /** Contract: called whenever a file is about to be replaced. */
  onReplace(): void {
    this.#replaced += 1
    for (const action of this.#world.plan.actions)
      if (action.kind === 'edit' && action.duringReplace === this.#replaced) this.edit()
  }

  /** Contract: called with every commit that was applied. */
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
        `people wrote ${JSON.stringify(writtenBy(this.#edits))}, STATE.md has ${JSON.stringify(outside)}`,
      )
  }

  checkEnd(): void {
    const file = this.#world.files.get('STATE.md')
    if (file !== this.#latest) this.#world.fail('I7', `the file of STATE.md is ${JSON.stringify(file)}`)
    if (this.#taken !== this.#edits) this.#world.fail('I7', `${this.#edits - this.#taken} edits of STATE.md are lost`)
    if (file?.split(MARK).length !== 2) this.#world.fail('I7', `STATE.md has no block: ${JSON.stringify(file)}`)
  }
}

const lineOf = (n: number): string => `- by hand ${n}\n`

/** The newest stands first. */
const writtenBy = (edits: number): string => {
  const lines = Array.from({ length: edits }, (_, i) => lineOf(edits - i)).join('')
  return SEED_STATE.replace('## notes\n', `## notes\n${lines}`)
}
