/** Starts the process of a subject and summarises its samples. */

import { spawn } from 'node:child_process'
import { resolve as resolvePath } from 'node:path'
import type { Load, Sample } from './meter.ts'
import { SUBJECTS, type SubjectName, unitOf } from './subjects.ts'

/** A median with the range of its samples. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly samples: number
}

const FLAGS = ['--disable-warning=ExperimentalWarning']

/** Contract: runs one process for one order; the error of a failed process contains its stderr. */
export function runSubject<T = Sample>(file: string, order: object): Promise<readonly T[]> {
  return new Promise((resolve, reject) => {
    const path = resolvePath(import.meta.dirname, file)
    const child = spawn(process.execPath, [...FLAGS, path, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LANGSMITH_TRACING: 'false', NODE_ENV: 'production' },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(stdout) as T[])
      else reject(new Error(`${file} ended with ${signal ?? code}\n${stderr}`))
    })
  })
}

export function figureOf(values: readonly number[]): Figure {
  return {
    median: medianOf(values),
    min: Math.min(...values),
    max: Math.max(...values),
    samples: values.length,
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const above = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? above) + above) / 2 : above
}

export interface Row extends Load {
  readonly subject: SubjectName
  readonly perSecond: Figure
  readonly cpuMsPerStep: Figure
  readonly commitsPerStep: number | null
  readonly lagP99Ms: number
  readonly bytesPerStep: number
}

export function rowOf(subject: SubjectName, load: Load, samples: readonly Sample[]): Row {
  const { sessions, steps } = load
  const all = sessions * steps
  const commits = samples.flatMap((sample) => sample.commits ?? [])
  return {
    subject,
    sessions,
    steps,
    perSecond: figureOf(samples.map(({ seconds }) => all / seconds)),
    cpuMsPerStep: figureOf(samples.map(({ cpuMs }) => cpuMs / all)),
    commitsPerStep: commits.length > 0 ? medianOf(commits) / all : null,
    lagP99Ms: medianOf(samples.map(({ lagP99Ms }) => lagP99Ms)),
    bytesPerStep: medianOf(samples.map(({ bytes }) => bytes)) / all,
  }
}

/** Order: one session, many sessions, then subjects that do not count steps; our subjects first, longer runs first. */
export function sortRows(rows: readonly Row[]): readonly Row[] {
  const names = Object.keys(SUBJECTS)
  const rank = ({ subject, sessions, steps }: Row): readonly number[] => [
    unitOf(subject) ? 1 : 0,
    sessions,
    names.indexOf(subject),
    -steps,
  ]
  return rows.toSorted(
    (a, b) =>
      rank(a)
        .map((x, i) => x - (rank(b)[i] ?? 0))
        .find((x) => x !== 0) ?? 0,
  )
}

export interface Point {
  readonly step: number
  readonly ms: number
}

const BUCKETS_PER_DECADE = 10

/** The cost of a step as the session grows: medians over windows that widen with the step number. */
export function curveOf(samples: readonly Sample[]): readonly Point[] {
  const buckets = new Map<number, { steps: number[]; ms: number[] }>()
  for (const { stepMs } of samples)
    for (const [i, ms] of stepMs.entries()) {
      const key = Math.floor(Math.log10(i + 1) * BUCKETS_PER_DECADE)
      const bucket = buckets.get(key) ?? { steps: [], ms: [] }
      bucket.steps.push(i + 1)
      bucket.ms.push(ms)
      buckets.set(key, bucket)
    }
  return [...buckets.values()].map(({ steps, ms }) => ({ step: medianOf(steps), ms: medianOf(ms) }))
}

/** The median cost of the steps from `step - reach` to `step + reach`. */
export function costAround(step: number, { stepMs }: Sample, reach: number): number {
  return medianOf(stepMs.slice(step - reach - 1, step + reach))
}
