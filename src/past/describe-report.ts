/** Writes the report of a shift as Markdown, for a message or a file. Pure. */

import { describeCheck } from '../domain/describe-check.ts'
import type { Language } from '../domain/language.ts'
import { shortId } from '../domain/short-id.ts'
import { describeMatters } from './describe-matters.ts'
import { STARTERS } from './describe-run.ts'
import { countStatuses, describeCycles, describeSpend, sayRunDetails } from './describe-work.ts'
import { isOneDay, sayMoment, sayPeriod, type Voice } from './say-time.ts'
import type { Evidence, ReportedRun, ShiftReport } from './shift-report.ts'
import { wallAt, writeDay } from './wall-clock.ts'

interface Texts {
  title(period: string): string
  readonly nothing: string
  readonly done: string
  why(starter: string): string
  changed(paths: string): string
  evidence(found: string): string
  readonly undone: string
  readonly documents: string
  by(author: string): string
  readonly waits: string
  readonly cost: string
  leftOut(count: number): string
  undo(command: string): string
  readonly proofs: Readonly<Record<'proved' | 'asserted', string>>
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    title: (period) => `# Shift report: ${period}`,
    nothing: 'Nothing was done.',
    done: '## Done',
    why: (starter) => `Why: ${starter}`,
    changed: (paths) => `Changed: ${paths}`,
    evidence: (found) => `Evidence: ${found}`,
    undone: 'taken back',
    documents: '## Documents',
    by: (author) => `by ${author}`,
    waits: '## Waits',
    cost: '## Cost',
    leftOut: (count) => `… and ${count} more, which are left out here.`,
    undo: (command) => `To take this day back: \`${command}\``,
    proofs: { proved: 'proved (failed before the work, passed after it)', asserted: 'asserted' },
  },
  zh: {
    title: (period) => `# 工作日报：${period}`,
    nothing: '这段时间没有做什么。',
    done: '## 做了什么',
    why: (starter) => `起因：${starter}`,
    changed: (paths) => `改动：${paths}`,
    evidence: (found) => `证据：${found}`,
    undone: '已撤销',
    documents: '## 文档',
    by: (author) => `由 ${author} 改动`,
    waits: '## 等待处理',
    cost: '## 花费',
    leftOut: (count) => `……还有 ${count} 个，这里没有列出。`,
    undo: (command) => `撤销这一天的工作：\`${command}\``,
    proofs: { proved: '已证实（之前不通过，之后通过）', asserted: '只是声称' },
  },
}

const MAX_FILES = 10
const MAX_TEXT = 300

export function describeReport(report: ShiftReport, voice: Voice): string {
  const { period, runs, documents, open, spend, cycles, left_out } = report
  const texts = TEXTS[voice.language]
  const oneDay = isOneDay(period, voice.clock)
  const day = writeDay(wallAt(voice.clock, period.from))
  const canUndo = oneDay && runs.some((run) => run.files.length > 0 && run.undone_by === null)
  return [
    texts.title(sayPeriod({ ...period, said: '' }, voice)),
    `**${runs.length === 0 ? texts.nothing : countStatuses(runs, left_out, voice.language)}**`,
    ...(runs.length > 0 ? [texts.done, runs.map((run) => describeRun(run, voice, oneDay)).join('\n')] : []),
    ...(left_out > 0 ? [texts.leftOut(left_out)] : []),
    ...(documents.length > 0 ? [texts.documents, describeDocuments(report, voice, oneDay)] : []),
    ...(open ? [texts.waits, describeMatters(open, voice)] : []),
    texts.cost,
    [describeSpend(spend, { ...period, said: '' }, voice), ...describeCycles(cycles, voice.language)].join('\n'),
    ...(canUndo ? [texts.undo(`tireless undo ${day}`)] : []),
  ].join('\n\n')
}

function describeRun(run: ReportedRun, voice: Voice, oneDay: boolean): string {
  const texts = TEXTS[voice.language]
  const { agent_id, title, files, evidence, outcome, started_by, undone_by, run_id } = run
  const paths = [...new Set(files.map(({ path }) => path))]
  const more = paths.length > MAX_FILES ? ` (+${paths.length - MAX_FILES})` : ''
  const details = [sayRunDetails(run, voice.language), shortId(run_id), ...(undone_by === null ? [] : [texts.undone])]
  return [
    `- ${sayMoment(run.from, voice, oneDay)} **${agent_id}: ${oneLine(title)}** (${details.join(', ')})`,
    `  - ${texts.why(STARTERS[voice.language][started_by])}`,
    ...(paths.length > 0
      ? [`  - ${texts.changed(`${paths.slice(0, MAX_FILES).map(oneLine).join(', ')}${more}`)}`]
      : []),
    ...evidence.map((found) => `  - ${texts.evidence(describeEvidence(found, texts))}`),
    ...(outcome === null ? [] : [`  - “${oneLine(outcome)}”`]),
  ].join('\n')
}

function describeEvidence({ code, title, proof, checks }: Evidence, texts: Texts): string {
  const results = checks.map(({ check, ok, observed }) => `${ok ? '✓' : '✗'} ${describeCheck(check)} → ${observed}`)
  const proved = proof === null ? [] : [texts.proofs[proof]]
  return oneLine([`${code} ${title}`, ...proved, ...results].join('; '))
}

function describeDocuments({ documents }: ShiftReport, voice: Voice, oneDay: boolean): string {
  const { by } = TEXTS[voice.language]
  return documents
    .map(({ name, version, author, reason, at }) => {
      const why = reason === '' ? '' : `: ${oneLine(reason)}`
      return `- ${sayMoment(at, voice, oneDay)} ${name} (${version}) ${by(author)}${why}`
    })
    .join('\n')
}

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line
}
