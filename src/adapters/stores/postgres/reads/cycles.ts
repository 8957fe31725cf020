/** Reads cycles, schedules, settings, spending, todos and undos from PostgreSQL. */

import type { CycleResult } from '../../../../domain/cycle.ts'
import type { Json } from '../../../../domain/json.ts'
import { iso } from '../../../../ports/clock.ts'
import type { CycleReads } from '../../../../ports/store/cycles.ts'
import type { SpendingReads } from '../../../../ports/store/spending.ts'
import type { TodoReads } from '../../../../ports/store/todos.ts'
import type { UndoReads } from '../../../../ports/store/undos.ts'
import type { Store } from '../../../../ports/store.ts'
import { leaderSetting, parseLeader } from '../../leaders.ts'
import { cycleFromRow } from '../../rows/message-rows.ts'
import { markFromRow, receiptFromRow, scheduleFromRow, todoFromRow, undoFromRow } from '../../rows/rows.ts'
import { spendFromRow, sumFromRow } from '../../rows/spend-rows.ts'
import { sumSpendQuery } from '../spend.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

export function pgCycleReads({ readAll, readOne, readPage, all }: PgRowReader): CycleReads {
  return {
    async cycles(kernelId, { limit }) {
      const list = 'SELECT * FROM cycles WHERE kernel_id = $1 ORDER BY n DESC'
      return (await readPage('cycles', list, [kernelId], { limit })).map(cycleFromRow)
    },
    async countCycles(kernelId, since) {
      // Every model call belongs to a dispatch, the planner's question too. The recorded number counts as well, because
      // the dispatches of a cycle may have been deleted before the cycle.
      const rows = await all(
        `SELECT c.result, EXISTS (SELECT 1 FROM dispatches d WHERE d.cycle_id = c.cycle_id) AS has_run
         FROM cycles c WHERE c.kernel_id = $1 AND c.started_at >= $2 AND c.ended_at IS NOT NULL`,
        ...[kernelId, since],
      )
      const ended = rows.flatMap(({ result, has_run }) => {
        const parsed = parseResult(result)
        return parsed ? [{ isQuiet: parsed.dispatched === 0 && has_run === 0 }] : []
      })
      return { ended: ended.length, quiet: ended.filter(({ isQuiet }) => isQuiet).length }
    },
    async schedules() {
      return (await readAll('schedules', 'SELECT * FROM schedules ORDER BY n')).map(scheduleFromRow)
    },
    async marks() {
      return (await readAll('marks', 'SELECT * FROM marks ORDER BY schedule_id')).map(markFromRow)
    },
    async leader(name) {
      const row = await readOne('settings', 'SELECT * FROM settings WHERE name = $1', leaderSetting(name))
      return parseLeader(row?.value)
    },
    async setting(name) {
      const row = await readOne('settings', 'SELECT * FROM settings WHERE name = $1', name)
      return row ? (JSON.parse(String(row.value)) as Json) : null
    },
  }
}

function parseResult(text: unknown): Pick<CycleResult, 'dispatched'> | undefined {
  try {
    return JSON.parse(String(text)) ?? undefined
  } catch {
    return undefined
  }
}

export function pgSpendingReads({ readAll, all }: PgRowReader): SpendingReads {
  return {
    async selections() {
      const found = await readAll('selections', 'SELECT * FROM selections ORDER BY scope')
      return found.map(({ scope, model }) => ({ scope: String(scope), model: String(model) }))
    },
    async spend(from, to) {
      const list = 'SELECT * FROM spend WHERE day BETWEEN $1 AND $2 ORDER BY day, kernel_id, agent_id, model'
      return (await readAll('spend', list, from, to)).map(spendFromRow)
    },
    async spendSums({ from, to, by }) {
      return (await all(sumSpendQuery(by), from, to)).map(sumFromRow)
    },
  }
}

const OF_SESSION = 'session = (SELECT n FROM sessions WHERE session_id = $1)'
const ALL_TODOS = 'FROM todos t JOIN sessions s ON s.n = t.session'

export function pgTodoReads({ readAll, readOne, readPage, all }: PgRowReader): TodoReads {
  return {
    async todos(sessionId) {
      return (await readAll('todos', `SELECT * FROM todos WHERE ${OF_SESSION} ORDER BY n`, sessionId)).map(todoFromRow)
    },
    async allTodos({ workspace, limit }) {
      const { text, values } = conditionsFor(['s.workspace = ?', workspace])
      const list = `SELECT t.* ${ALL_TODOS} WHERE ${text} ORDER BY t.session DESC, t.n`
      return (await readPage('todos', list, values, { limit })).map(todoFromRow)
    },
    async todoWindow({ workspace, session_id, status, offset, limit }) {
      const { text, values } = conditionsFor(
        ['s.workspace = ?', workspace],
        ['s.session_id = ?', session_id],
        ['t.status = ?', status],
      )
      const [counted] = await all(`SELECT count(*) AS total ${ALL_TODOS} WHERE ${text}`, ...values)
      const list = `SELECT t.* ${ALL_TODOS} WHERE ${text} ORDER BY t.session DESC, t.n`
      const found = await readPage('todos', list, values, { limit, offset })
      return { items: found.map(todoFromRow), total: Number(counted?.total) }
    },
    async todo(sessionId, code) {
      const row = await readOne('todos', `SELECT * FROM todos WHERE ${OF_SESSION} AND code = $2`, sessionId, code)
      return row && todoFromRow(row)
    },
    async todoReceipt(opId) {
      const row = await readOne('todo_receipts', 'SELECT * FROM todo_receipts WHERE op_id = $1', opId)
      return row && receiptFromRow(row)
    },
    async todoReceipts({ session_id, code, limit }) {
      const list = `SELECT * FROM todo_receipts WHERE ${OF_SESSION} ORDER BY n DESC`
      const receipts = (await readAll('todo_receipts', list, session_id)).map(receiptFromRow)
      const names = (receipt: (typeof receipts)[number]): boolean =>
        receipt.changed.includes(code) || (receipt.refusal as { readonly code?: string } | null)?.code === code
      return receipts.filter(names).slice(0, limit)
    },
  }
}

export function pgUndoReads({ readAll, readOne, readPage, all }: PgRowReader): UndoReads & Pick<Store, 'setAside'> {
  return {
    async undo(id) {
      const row = await readOne('undos', 'SELECT * FROM undos WHERE id = $1', id)
      return row && undoFromRow(row)
    },
    async undos({ limit }) {
      return (await readPage('undos', 'SELECT * FROM undos ORDER BY n DESC', [], { limit })).map(undoFromRow)
    },
    async unfinishedUndos() {
      return (await readAll('undos', "SELECT * FROM undos WHERE status = 'running' ORDER BY n")).map(undoFromRow)
    },
    async setAside({ limit }) {
      const found = await all('SELECT * FROM set_aside ORDER BY n DESC LIMIT $1', limit)
      return found.map(({ n, source, why, body, at }) => ({
        ...{ n: Number(n), source: String(source), why: String(why), body: String(body), at: iso(Number(at)) },
      }))
    },
  }
}
