/**
 * Draws the results as an SVG. Left: steps per second. Right: cost of a step as its session grows. Log scales. Pure.
 */

import type { Results } from './engine.ts'
import type { Row } from './measure.ts'
import { SUBJECTS, type SubjectName, shortTitle, unitOf } from './subjects.ts'

const WIDTH = 1240
const HEIGHT = 620
const INK = '#1f2937'
const FAINT = '#6b7280'
const GRID = '#e5e7eb'
const COLOURS: Readonly<Record<SubjectName, string>> = {
  tireless: '#0f766e',
  store: '#7cc4bd',
  langgraph: '#d97706',
  sqlite: '#94a3b8',
  disk: '#cbd5e1',
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const LEFT: Box = { x: 300, y: 110, width: 310, height: 400 }
const RIGHT: Box = { x: 740, y: 110, width: 440, height: 400 }

/** A logarithmic axis between two powers of ten. */
interface Axis {
  readonly ticks: readonly number[]
  /** 0 … 1. */
  at(value: number): number
}

export function axisOf(values: readonly number[]): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: (value) => (Math.log10(value) - low) / (high - low),
  }
}

export function plot(results: Results): string {
  const { machine, at, scale } = results
  const run = scale === 'full' ? '' : ` · ${scale} run`
  const where = `Node ${machine.node} · ${machine.system}, ${machine.cores} cores · ${at.slice(0, 10)}${run}`
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(40, 44, 'Durable steps: one model answer and one tool call, all fsynced', { size: 20, weight: 600 }),
    text(40, 68, `the same loop for all, measured in one run · ${where}`, { fill: FAINT }),
    ...speeds(results.rows),
    ...growth(results.growth.curves),
    ...legend([...new Set(results.rows.map(({ subject }) => subject))]),
    '</svg>',
  ].join('\n')}\n`
}

function speeds(rows: readonly Row[]): readonly string[] {
  const axis = axisOf(rows.map(({ perSecond }) => perSecond.median))
  const pitch = LEFT.height / rows.length
  const bars = rows.flatMap((row, i) => {
    const y = LEFT.y + i * pitch
    const width = Math.max(1, axis.at(row.perSecond.median) * LEFT.width)
    return [
      bar({ x: LEFT.x, y: y + pitch * 0.16, width, height: pitch * 0.68 }, COLOURS[row.subject]),
      text(LEFT.x - 12, y + pitch / 2 + 4, nameOf(row), { anchor: 'end' }),
      text(LEFT.x + width + 7, y + pitch / 2 + 4, Math.round(row.perSecond.median).toLocaleString('en-US'), {
        weight: 600,
      }),
    ]
  })
  return [
    text(40, 96, 'Steps per second (sessions × steps)', { weight: 600, size: 15 }),
    ...axis.ticks.flatMap((tick) => vertical(LEFT, axis.at(tick), compact(tick))),
    text(
      LEFT.x + LEFT.width / 2,
      LEFT.y + LEFT.height + 44,
      'steps per second of all sessions (grey: commits and syncs per second)',
      {
        anchor: 'middle',
        fill: FAINT,
      },
    ),
    ...bars,
  ]
}

const bar = ({ x, y, width, height }: Box, fill: string): string =>
  `<rect x="${x}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}" rx="3" fill="${fill}"/>`

function legend(subjects: readonly SubjectName[]): readonly string[] {
  const pitch = (WIDTH - 80) / subjects.length
  return subjects.flatMap((subject, i) => [
    `<rect x="${fixed(40 + i * pitch)}" y="${HEIGHT - 28}" width="12" height="12" rx="2" fill="${COLOURS[subject]}"/>`,
    text(58 + i * pitch, HEIGHT - 17, SUBJECTS[subject].title, { fill: FAINT }),
  ])
}

function nameOf({ subject, sessions, steps }: Row): string {
  const unit = unitOf(subject)
  return unit ? `${shortTitle(subject)} (${unit})` : `${shortTitle(subject)} · ${sessions} × ${steps}`
}

function growth(curves: Results['growth']['curves']): readonly string[] {
  const lines = Object.entries(curves) as [SubjectName, NonNullable<(typeof curves)[SubjectName]>][]
  const points = lines.flatMap(([, curve]) => curve)
  const [across, up] = [axisOf(points.map(({ step }) => step)), axisOf(points.map(({ ms }) => ms))]
  const x = (step: number): number => RIGHT.x + across.at(step) * RIGHT.width
  const y = (ms: number): number => RIGHT.y + RIGHT.height - up.at(ms) * RIGHT.height
  return [
    text(RIGHT.x - 50, 96, 'Cost of a step as its session grows', { weight: 600, size: 15 }),
    ...across.ticks.flatMap((tick) => vertical(RIGHT, across.at(tick), compact(tick))),
    ...up.ticks.flatMap((tick) => [
      horizontal(RIGHT, y(tick)),
      text(RIGHT.x - 10, y(tick) + 4, `${tick} ms`, { anchor: 'end', fill: FAINT }),
    ]),
    text(RIGHT.x + RIGHT.width / 2, RIGHT.y + RIGHT.height + 44, 'step of one session', {
      anchor: 'middle',
      fill: FAINT,
    }),
    ...lines.flatMap(([subject, curve]) => {
      const path = curve.map(({ step, ms }) => `${fixed(x(step))},${fixed(y(ms))}`).join(' ')
      const last = curve.at(-1)
      return [
        `<polyline points="${path}" fill="none" stroke="${COLOURS[subject]}" ${LINE_STYLE}/>`,
        ...(last
          ? [
              `<circle cx="${fixed(x(last.step))}" cy="${fixed(y(last.ms))}" r="4" fill="${COLOURS[subject]}"/>`,
              text(x(last.step) - 8, y(last.ms) - 12, shortTitle(subject), {
                anchor: 'end',
                fill: COLOURS[subject],
                weight: 600,
              }),
            ]
          : []),
      ]
    }),
  ]
}

const horizontal = ({ x, width }: Box, y: number): string =>
  `<line x1="${x}" x2="${x + width}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${GRID}"/>`

function vertical(box: Box, at: number, label: string): readonly string[] {
  const x = fixed(box.x + at * box.width)
  return [
    `<line x1="${x}" x2="${x}" y1="${box.y}" y2="${box.y + box.height}" stroke="${GRID}"/>`,
    text(Number(x), box.y + box.height + 20, label, { anchor: 'middle', fill: FAINT }),
  ]
}

interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly size?: number
  readonly weight?: number
  readonly fill?: string
}

const LINE_STYLE = 'stroke-width="2.5" stroke-linejoin="round"'

function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { anchor = 'start', size = 13, weight = 400, fill = INK } = style
  const font = `text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${fill}"`
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${font}>${escapeXml(content)}</text>`
}

const fixed = (value: number): string => value.toFixed(1)
const escapeXml = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const compact = (value: number): string => (value >= 1000 ? `${value / 1000}k` : String(value))
