/** The outside of a measurement: starts a subject's process and sums up what it says. */

import { spawn } from 'node:child_process'
import { resolve as resolvePath } from 'node:path'
import type { Load, Sample } from './meter.ts'
import { SUBJECTS, type SubjectName, unitOf } from './subjects.ts'

/** A median never stands alone: how far apart the samples were goes with it. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly samples: number
}

const FLAGS = ['--disable-warning=ExperimentalWarning']

/** Contract: one process for one order; what it says on stderr comes with the error when it fails. */
export function runSubject<T = Sample>(file: string, order: object): Promise<readonly T[]> {
  return new Promise((resolve, reject) => {
    const path = resolvePath(import.meta.dirname, file)
    const child = spawn(process.execPath, [...FLAGS, path, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LANGSMITH_TRACING: 'false', NODE_ENV: 'production' },
    })
    let said = ''
    let complained = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complained += text
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(said) as T[])
      else reject(new Error(`${file} ended with ${signal ?? code}\n${complained}`))
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

/** One session first, then many, then what is no step; ours before theirs, long before short. */
export function shown(rows: readonly Row[]): readonly Row[] {
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

/** What a step cost as the session grew: medians of windows that widen with the step number. */
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

/** The median cost of the steps around one. */
export function costAround(step: number, { stepMs }: Sample, reach: number): number {
  return medianOf(stepMs.slice(step - reach - 1, step + reach))
}
