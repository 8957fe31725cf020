/** The outbox of several processes: the leader delivers, every message arrives, none again after it was recorded. */

import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

interface OutboxRow {
  readonly id: string
  readonly status: 'pending' | 'sent' | 'failed'
  readonly due: number
  /** Its delivery failed or was interrupted. */
  readonly begun: 0 | 1
}

export class Deliveries {
  readonly #world: World
  readonly #attempts = new Map<string, number>()
  /** The texts that arrived, by the id of their message. */
  readonly #accepted = new Map<string, string[]>()

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: the number of attempts to deliver this message so far, with this one. */
  attempt(id: string): number {
    const nth = (this.#attempts.get(id) ?? 0) + 1
    this.#attempts.set(id, nth)
    return nth
  }

  /** `part`: the id of the message, or of a later version of it. */
  accept(proc: SimProcess, part: string, text: string): void {
    const { leases } = this.#world.several
    const id = part.replace(/\.v\d+$/, '')
    const earlier = this.#accepted.get(id) ?? []
    this.#accepted.set(id, [...earlier, text])
    this.#world.counters.add(earlier.includes(text) ? 'message delivered again' : 'message delivered')
    leases.checkInTime(proc, `the delivery of ${id}`)
    if (leases.leading() !== proc) return
    const row = this.#rows().find((one) => one.id === id)
    if (row?.status === 'sent' && earlier.includes(text))
      this.#world.fail('outbox', `${id} is delivered again by ${proc.id}, although it is recorded as sent`)
  }

  /** When the messages that wait are due. One whose delivery failed holds back the others, which are of its thread. */
  pendingDues(): readonly number[] {
    const pending = this.#rows().filter(({ status }) => status === 'pending')
    const first = pending.find(({ begun }) => begun === 1)
    return (first ? [first] : pending).map(({ due }) => due)
  }

  checkEnd(): void {
    for (const { id, status } of this.#rows()) {
      if (status !== 'sent') this.#world.fail('outbox', `${id} is ${status} at the end`)
      if (!this.#accepted.has(id)) this.#world.fail('outbox', `${id} is ${status}, and never arrived`)
    }
  }

  #rows(): readonly OutboxRow[] {
    if (!this.#world.plan.several) return []
    const begun = '(error IS NOT NULL OR parts_sent > 0) AS begun'
    const rows = this.#world.db.prepare(`SELECT id, status, due, ${begun} FROM outbox ORDER BY n`).all()
    return rows as unknown as OutboxRow[]
  }
}
