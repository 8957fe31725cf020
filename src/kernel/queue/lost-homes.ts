/**
 * Lost homes: on a shared store, the leader takes over what waits for a home without a worker, and tells the owner.
 * Must not know: how work is moved, and where messages go.
 * Invariants: the owner is told once of each dispatch; a failed message does not stop the leader.
 */

import { asTirelessError } from '../../domain/error.ts'
import type { Language } from '../../domain/language.ts'
import { shortId } from '../../domain/short-id.ts'
import { titleOfRun } from '../../domain/title.ts'
import type { Clock } from '../../ports/clock.ts'
import { commitOne, fallbackIfUnreadable, type OpResults, type Store } from '../../ports/store.ts'

interface LostHomesDeps {
  readonly store: Store
  readonly clock: Clock
  /** How often to look, in ms. */
  readonly everyMs: number
  /** Contract: how long work waits for its home, in ms; null: for ever. */
  graceMs(): number | null
  language(): Language
  /** Contract: tells the owner, once per id. */
  tell(id: string, text: string): Promise<unknown>
  log(level: 'warn', event: string, details: Readonly<Record<string, string>>): void
}

type TakenOver = OpResults['take_over'][number]

/** Contract: looks until the signal aborts; rejects if the store refuses, because another process leads, or fails. */
export async function watchLostHomes(deps: LostHomesDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, everyMs, graceMs } = deps
  const told = new Set<string>()
  while (!signal.aborted) {
    const grace = graceMs()
    const [taken] = grace === null ? [[]] : await commitOne(store, [{ op: 'take_over', grace, now: clock.now() }])
    for (const one of taken) {
      const id = `away-${one.home.home}-${one.dispatch_id}-${one.became}`
      if (told.has(id)) continue
      told.add(id)
      await report(deps, id, one)
    }
    await clock.sleep(everyMs, signal)
  }
}

async function report(deps: LostHomesDeps, id: string, one: TakenOver): Promise<void> {
  const { dispatch_id, session_id, became, workspace, home } = one
  const dispatch = await fallbackIfUnreadable(deps.store.dispatch(dispatch_id), undefined)
  const title = dispatch ? titleOfRun(dispatch.prompt, dispatch.metadata.behaviour) : dispatch_id
  deps.log('warn', 'home away', { dispatch_id, session_id, became, workspace, host: home.host })
  // The parent of a sub-agent is told of its end, and says what became of the whole.
  if (became === 'cancelled') return
  const text = TEXTS[deps.language()][became]({ ...one, title })
  await deps.tell(id, text).catch((thrown) => {
    deps.log('warn', 'owner not told', { message: asTirelessError(thrown).message })
  })
}

type TextOf = (of: TakenOver & { readonly title: string }) => string

const cancelOf = (id: string): string => `tireless queue cancel ${shortId(id)}`

const TEXTS: Readonly<Record<Language, Readonly<Record<'moved' | 'waits', TextOf>>>> = {
  en: {
    moved: ({ title, home: { host, last_seen }, workspace }) =>
      `“${title}” goes on on another machine, without its files: they are on ${host} in ${workspace}. ` +
      `No worker runs there${last_seen === null ? '' : ` since ${last_seen}`}.`,
    waits: ({ title, home: { host, last_seen }, workspace, dispatch_id }) =>
      `“${title}” waits for the machine ${host}, which has its folder ${workspace}. ` +
      `No worker runs there${last_seen === null ? '' : ` since ${last_seen}`}. ` +
      `Start Tireless there, or cancel it: ${cancelOf(dispatch_id)}`,
  },
  zh: {
    moved: ({ title, home: { host, last_seen }, workspace }) =>
      `“${title}”改在另一台机器上继续，但没有原来的文件：文件在 ${host} 的 ${workspace}。` +
      `那里没有工作进程${last_seen === null ? '' : `，最后一次出现于 ${last_seen}`}。`,
    waits: ({ title, home: { host, last_seen }, workspace, dispatch_id }) =>
      `“${title}”在等机器 ${host}：它的目录 ${workspace} 在那里，` +
      `而那里没有工作进程${last_seen === null ? '' : `，最后一次出现于 ${last_seen}`}。` +
      `请在那台机器上启动 Tireless，或取消：${cancelOf(dispatch_id)}`,
  },
}
