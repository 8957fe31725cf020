/** Garbage: the port that returned it is named in a record, and a broken gate lets nothing through. */

import type { Batch, BatchOutcome, Op } from '../../../src/ports/store.ts'
import type { GarbagePort } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

/** How each port is named in a record. */
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
  /** Garbage that is not yet in a record. */
  #unrecorded: { readonly proc: SimProcess; readonly port: GarbagePort; readonly event: number }[] = []
  /** Calls that a broken gate judged, by process, session, turn, tool and arguments. */
  readonly #judgedCalls = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  onGarbage(proc: SimProcess, port: GarbagePort): void {
    this.#world.counters.add('garbage returned by a port')
    this.#world.logEvent(`${proc.id} garbage from ${port}`)
    // A call that a person approved needs no gate, and a hook's failure is not recorded: neither must be named.
    if (port !== 'gate' && port !== 'hook') this.#unrecorded.push({ proc, port, event: this.#world.events })
  }

  markJudged(proc: SimProcess, session_id: string, tool: string, args: string): void {
    this.#judgedCalls.add(this.#call(proc.id, session_id, tool, args))
  }

  wasJudged(proc: number, session_id: string, tool: string, args: string): boolean {
    return this.#judgedCalls.has(this.#call(proc, session_id, tool, args))
  }

  #call(proc: number, session_id: string, tool: string, args: string): string {
    return `${proc} ${session_id}.${this.#world.mirror.byId.get(session_id)?.open?.turn} ${tool} ${args}`
  }

  /** Contract: called with every applied commit. */
  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    if (this.#unrecorded.length === 0) return
    for (const [i, { ops }] of batches.entries())
      if (outcomes[i]?.ok) for (const text of ops.flatMap(textsIn)) this.#markRecorded(proc, text)
  }

  #markRecorded(proc: SimProcess, text: string): void {
    const at = this.#unrecorded.findIndex((one) => one.proc === proc && NAMES[one.port].test(text))
    if (at >= 0) this.#unrecorded.splice(at, 1)
  }

  /** A process that has ended, or is being aborted, writes no more records. */
  forgetProcess(proc: SimProcess): void {
    this.#unrecorded = this.#unrecorded.filter((one) => one.proc !== proc)
  }

  checkEnd(): void {
    for (const { proc, port, event } of this.#unrecorded)
      this.#world.fail(
        'garbage',
        `a ${port} returned garbage to process ${proc.id} at event ${event}, and no record names it`,
      )
  }
}

/** The texts that may name the port: failures, diagnoses, and results of calls. */
function textsIn(op: Op): readonly string[] {
  if (op.op !== 'append') return []
  return op.records.flatMap((record) => {
    if (record.kind === 'failed') return record.message
    if (record.kind === 'diagnosed') return `${record.about} ${record.message}`
    return record.kind === 'call_settled' ? record.result.content : []
  })
}
