/**
 * Requests for a cycle from other processes on a shared store. The request is a setting, which the leader looks at
 * whenever the store has changed; it runs a cycle and puts its result among the last answers.
 * Must not know: what a cycle does.
 * Invariants: a request whose leader died is taken by the next one.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Ids } from '../../ports/ids.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import type { WakeSignal } from '../queue/wake-signal.ts'
import type { CycleOutcome } from './cycle.ts'

type RequestedCycle = Pick<CycleOutcome, 'result' | 'open'>

interface CycleRequest {
  readonly id: string
  readonly at: number
}

interface CycleAnswer {
  readonly id: string
  readonly cycle: RequestedCycle | null
  readonly error: string | null
}

/** Answers that are kept, so that requests that come at once all find theirs. */
const MAX_ANSWERS = 8
/** A request that is older has no process any more that waits for it. */
const MAX_AGE_MS = 10 * 60_000
/** How often a waiting process looks whether there still is a leader. */
const LOOK_EVERY_MS = 5000

const requestSetting = (kernelId: string): string => `cycle_request:${kernelId}`
const answersSetting = (kernelId: string): string => `cycle_answers:${kernelId}`

interface RequestDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly wakeSignal: WakeSignal
  readonly kernelId: string
}

/** Contract: the cycle that the leader ran; undefined if there is no leader. */
export async function requestCycle(deps: RequestDeps, stop: AbortSignal): Promise<RequestedCycle | undefined> {
  const { store, clock, ids, wakeSignal, kernelId } = deps
  if (!(await hasLeader(deps))) return undefined
  const request = { id: ids.next(), at: clock.now() }
  const accepted = new Set([request.id])
  await commitOne(store, [{ op: 'set', name: requestSetting(kernelId), value: request }])
  while (!stop.aborted) {
    const since = wakeSignal.ringCount()
    // The request of another process has replaced this one: its cycle begins later, so it will do.
    accepted.add((await readRequest(store, kernelId))?.id ?? request.id)
    const answer = (await readAnswers(store, kernelId)).find(({ id }) => accepted.has(id))
    if (answer?.cycle) return answer.cycle
    if (answer) throw new TirelessError('internal', answer.error ?? 'the cycle failed')
    if (!(await hasLeader(deps))) return undefined
    await withDeadline({ clock, ms: LOOK_EVERY_MS, stop }, (over) => wakeSignal.wait(since, over))
  }
  throw new TirelessError('aborted', 'this process stopped before the cycle ended')
}

/** Takes the requests of other processes; `run`: runs a cycle after the running one. */
export class CycleRequests {
  readonly #deps: Pick<RequestDeps, 'store' | 'clock' | 'kernelId'>
  readonly #run: () => Promise<CycleOutcome>
  #taken = ''

  constructor(deps: Pick<RequestDeps, 'store' | 'clock' | 'kernelId'>, run: () => Promise<CycleOutcome>) {
    this.#deps = deps
    this.#run = run
  }

  /** Contract: takes a new request, if there is one; does not wait for its cycle. */
  async look(): Promise<void> {
    const { store, clock, kernelId } = this.#deps
    const request = await readRequest(store, kernelId)
    if (!request || request.id === this.#taken || clock.now() - request.at > MAX_AGE_MS) return
    this.#taken = request.id
    if ((await readAnswers(store, kernelId)).some(({ id }) => id === request.id)) return
    void this.#answer(request.id).catch(() => undefined)
  }

  async #answer(id: string): Promise<void> {
    const { store, kernelId } = this.#deps
    const cycle = await this.#run().then(
      ({ result, open }): CycleAnswer => ({ id, cycle: { result, open }, error: null }),
      (thrown): CycleAnswer => ({ id, cycle: null, error: asTirelessError(thrown).message }),
    )
    const value = [cycle, ...(await readAnswers(store, kernelId))].slice(0, MAX_ANSWERS) as unknown as Json
    await commitOne(store, [{ op: 'set', name: answersSetting(kernelId), value }])
  }
}

async function hasLeader({ store, clock, kernelId }: RequestDeps): Promise<boolean> {
  const leader = await store.leader(kernelId)
  return (await store.workers(clock.now())).some(({ epoch }) => epoch === leader?.epoch)
}

async function readRequest(store: Store, kernelId: string): Promise<CycleRequest | undefined> {
  const value = (await store.setting(requestSetting(kernelId))) as Partial<CycleRequest> | null
  return typeof value?.id === 'string' && typeof value.at === 'number' ? { id: value.id, at: value.at } : undefined
}

async function readAnswers(store: Store, kernelId: string): Promise<readonly CycleAnswer[]> {
  const value = await store.setting(answersSetting(kernelId))
  return Array.isArray(value) ? (value as unknown as readonly CycleAnswer[]) : []
}
