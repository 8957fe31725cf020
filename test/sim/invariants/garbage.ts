/** Garbage: whoever returned it is named on record, and a gate that is broken lets nothing through. */

import type { Batch, BatchOutcome, Op } from '../../../src/ports/store.ts'
import type { GarbagePort } from '../plan.ts'
import type { Life } from '../process.ts'
import type { World } from '../world.ts'

/** How each is named. */
const NAMES: Readonly<Record<GarbagePort, RegExp>> = {
  model: /model sim\/model/,
  memory: /memory \w+/,
  critic: /critic sim/,
  gate: /gate sim/,
  tool: /tool \w+ returned/,
  hook: /hook sim/,
}

export class Garbage {
  readonly #world: World
  /** What nobody has been told of yet. */
  #untold: { readonly life: Life; readonly port: GarbagePort; readonly event: number }[] = []
  /** Calls that a broken gate has judged, by life, session, turn, tool and arguments. */
  readonly #judged = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  returned(life: Life, port: GarbagePort): void {
    this.#world.counters.add('garbage returned')
    this.#world.note(`${life.id} garbage from ${port}`)
    // What a person has allowed, no gate is needed for; so that it may have nothing to say.
    if (port !== 'gate' && port !== 'hook') this.#untold.push({ life, port, event: this.#world.events })
  }

  judged(life: Life, session_id: string, tool: string, args: string): void {
    this.#judged.add(this.#call(life.id, session_id, tool, args))
  }

  isHeld(life: number, session_id: string, tool: string, args: string): boolean {
    return this.#judged.has(this.#call(life, session_id, tool, args))
  }

  #call(life: number, session_id: string, tool: string, args: string): string {
    return `${life} ${session_id}.${this.#world.watch.byId.get(session_id)?.open?.turn} ${tool} ${args}`
  }

  /** Contract: called with every commit that was applied. */
  committed(life: Life, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    if (this.#untold.length === 0) return
    for (const [i, { ops }] of batches.entries())
      if (outcomes[i]?.ok) for (const text of ops.flatMap(textsIn)) this.#told(life, text)
  }

  #told(life: Life, text: string): void {
    const at = this.#untold.findIndex((one) => one.life === life && NAMES[one.port].test(text))
    if (at >= 0) this.#untold.splice(at, 1)
  }

  /** Nobody is told by a process that is gone, or about to be. */
  forget(life: Life): void {
    this.#untold = this.#untold.filter((one) => one.life !== life)
  }

  checkEnd(): void {
    for (const { life, port, event } of this.#untold)
      this.#world.fail(
        'garbage',
        `a ${port} returned garbage to life ${life.id} at event ${event}, and it is on no record`,
      )
  }
}

/** Where it may be said: what failed, what was passed over, what a call came to. */
function textsIn(op: Op): readonly string[] {
  if (op.op !== 'append') return []
  return op.records.flatMap((record) => {
    if (record.kind === 'failed') return record.message
    if (record.kind === 'diagnosed') return `${record.about} ${record.message}`
    return record.kind === 'call_settled' ? record.result.content : []
  })
}
