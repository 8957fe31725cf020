/**
 * Maintains the list of recent agent results in the section `## recent_actions` of STATE.md (E18). Only lines written
 * by the program are added and removed. Deleting the section turns the list off.
 */

import { linesWithBreaks } from './diff.ts'
import { toOneLine, truncateWithEllipsis } from './markdown-table.ts'

export interface RecentAction {
  readonly ended_at: string
  readonly agent_id: string
  readonly status: string
  /** The agent's summary; null if it may quote third-party text, because STATE.md is part of every prompt. */
  readonly summary: string | null
  readonly run_id: string
}

/** Limits: lines kept, and characters per summary. */
export const MAX_RECENT_ACTIONS = 20
const MAX_SUMMARY = 160

const TITLE = /^## +recent_actions[ \t]*\r?\n?$/
const PLACEHOLDER = /^\(none yet\)[ \t]*\r?\n?$/
const OWN_LINE = /^- \d{4}-\d\d-\d\dT[\d:.]+Z [\w.-]+ (?:done|failed|cancelled|dead): /
const SUMMARY_HEADING = /^#+[ \t].*\n/
const HEADING = /^#{1,6}[ \t]/

/**
 * Contract: puts `actions`, newest first, at the top of the section. Beyond MAX_RECENT_ACTIONS, the oldest lines of the
 * program are removed. A text without the section is unchanged.
 */
export function withRecentActions(text: string, actions: readonly RecentAction[]): string {
  const lines = linesWithBreaks(text)
  const title = lines.findIndex((line) => TITLE.test(line))
  if (title < 0 || actions.length === 0) return text
  const next = lines.findIndex((line, i) => i > title && (HEADING.test(line) || line.includes('\0')))
  const end = next < 0 ? lines.length : next
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const added = actions.map((action) => `${renderAction(action)}${eol}`)
  let room = Math.max(0, MAX_RECENT_ACTIONS - added.length)
  const kept = lines.slice(title + 1, end).filter((line) => {
    if (PLACEHOLDER.test(line)) return false
    if (!OWN_LINE.test(line)) return true
    room -= 1
    return room >= 0
  })
  const heading = (lines[title] ?? '').replace(/\r?\n?$/, eol)
  return [...lines.slice(0, title), heading, ...added.slice(0, MAX_RECENT_ACTIONS), ...kept, ...lines.slice(end)].join(
    '',
  )
}

function renderAction({ ended_at, agent_id, status, summary, run_id }: RecentAction): string {
  const text =
    summary === null ? '' : truncateWithEllipsis(toOneLine(summary.replace(SUMMARY_HEADING, '')), MAX_SUMMARY)
  return `- ${ended_at} ${agent_id} ${status}: ${text || `see trace show ${run_id}`}`
}
