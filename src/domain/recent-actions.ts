/**
 * What agents did last, in the section `## recent_actions` of STATE.md (E18). Only our own lines are added and removed; every other byte stays.
 * Who wants no such list deletes the section.
 */

import { linesOf } from './lines.ts'
import { oneLine, shortened } from './markdown-table.ts'

export interface RecentAction {
  readonly ended_at: string
  readonly agent_id: string
  readonly status: string
  /** In the agent's words; null where those may quote somebody else: STATE.md is in every prompt. */
  readonly summary: string | null
  readonly run_id: string
}

/** Lines of ours that are kept, and characters of a summary. */
export const MOST_ACTIONS = 20
const MOST_SUMMARY = 160

const TITLE = /^## +recent_actions[ \t]*\r?\n?$/
const NOTHING_YET = /^\(none yet\)[ \t]*\r?\n?$/
const OURS = /^- \d{4}-\d\d-\d\dT[\d:.]+Z [\w.-]+ (?:done|failed|cancelled|dead): /
const SUMMARY_HEADING = /^#+[ \t].*\n/
const HEADING = /^#{1,6}[ \t]/

/** Contract: `actions`, newest first, stand at the top of the section; beyond MOST_ACTIONS our oldest lines go. No section, no change. */
export function withRecentActions(text: string, actions: readonly RecentAction[]): string {
  const lines = linesOf(text)
  const title = lines.findIndex((line) => TITLE.test(line))
  if (title < 0 || actions.length === 0) return text
  const next = lines.findIndex((line, i) => i > title && (HEADING.test(line) || line.includes('\0')))
  const end = next < 0 ? lines.length : next
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const added = actions.map((action) => `${lineOf(action)}${eol}`)
  let room = Math.max(0, MOST_ACTIONS - added.length)
  const kept = lines.slice(title + 1, end).filter((line) => {
    if (NOTHING_YET.test(line)) return false
    if (!OURS.test(line)) return true
    room -= 1
    return room >= 0
  })
  const heading = (lines[title] ?? '').replace(/\r?\n?$/, eol)
  return [...lines.slice(0, title), heading, ...added.slice(0, MOST_ACTIONS), ...kept, ...lines.slice(end)].join('')
}

function lineOf({ ended_at, agent_id, status, summary, run_id }: RecentAction): string {
  const said = summary === null ? '' : shortened(oneLine(summary.replace(SUMMARY_HEADING, '')), MOST_SUMMARY)
  return `- ${ended_at} ${agent_id} ${status}: ${said || `see trace show ${run_id}`}`
}
