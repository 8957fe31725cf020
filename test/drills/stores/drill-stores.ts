/**
 * Runs the test files that open homes with each home on PostgreSQL instead of a file, so that what is above the store
 * is tested on both stores. A file counts only if its homes did use databases.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openPostgres } from '../../support/postgres.ts'
import { HomeDatabases } from './home-databases.ts'
import { TESTS_LEFT_OUT } from './left-out.ts'

/** Many homes are open at once, and nothing has to survive. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '256MB' }
const ROOT = join(import.meta.dirname, '../../..')
const LOOK_EVERY_MS = 1000

interface NamedTest {
  readonly name: string
  readonly detail: string
}

/** A line of `scripts/test.mjs --results`. */
interface FileResult {
  readonly title: string
  readonly folder: string
  readonly names: readonly string[]
  readonly failures: readonly NamedTest[]
  readonly skipped: readonly NamedTest[]
  readonly ms: number
}

export interface StoresResult {
  readonly files: number
  readonly passed: number
  readonly failures: readonly { readonly title: string; readonly detail: string }[]
  /** Failed tests that are listed as left out, with their reasons. */
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[]
  /** Files none of whose homes used a database. */
  readonly withoutHomes: readonly string[]
  /** Entries of the list that name no test, or one that passes. */
  readonly stale: readonly string[]
  readonly databases: number
}

export async function drillStores(
  files: readonly string[],
  lanes: number,
  tell: (line: string) => void,
): Promise<StoresResult> {
  await using ends = new AsyncDisposableStack()
  const after = (end: () => unknown): void => ends.defer(async () => void (await end()))
  const server = await openPostgres({ after }, SETTINGS)
  const databases = await HomeDatabases.prepare(server)
  const folder = mkdtempSync(join(tmpdir(), 'stores-'))
  after(() => rmSync(folder, { recursive: true }))
  const results = join(folder, 'results')
  const preload = pathToFileURL(join(import.meta.dirname, 'use-postgres.mjs'))
  preload.searchParams.set('server', server.adminUrl)
  const args = ['scripts/test.mjs', '--sources', '--lanes', String(lanes), '--results', results, ...files]
  const env = { ...process.env, NODE_OPTIONS: `--import ${preload.href}` }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] })
  after(() => child.kill())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill())
  const ended = once(child, 'exit')
  let told = 0
  while (child.exitCode === null && child.signalCode === null) {
    await Promise.race([ended, setTimeout(LOOK_EVERY_MS)])
    await databases.tidy()
    const lines = readResults(results)
    for (const result of lines.slice(told)) tell(describeFile(result, databases.countOf(result.folder)))
    told = lines.length
  }
  return judgeStores(readResults(results), databases)
}

/** The last line may be incomplete. */
const readResults = (path: string): readonly FileResult[] =>
  readFileSync(path, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const isListed = (title: string): boolean => Object.hasOwn(TESTS_LEFT_OUT, title)
const titleOf = ({ title }: FileResult, name: string): string => `${title} › ${name}`

function describeFile(result: FileResult, homes: number): string {
  const { title, names, failures, skipped, ms } = result
  const bad = failures.filter(({ name }) => !isListed(titleOf(result, name))).length
  const counts = [
    `${names.length}`,
    bad > 0 && `${bad} failed`,
    failures.length > bad && `${failures.length - bad} left out`,
    skipped.length > 0 && `${skipped.length} skipped`,
    homes === 0 ? 'no home' : `${homes} homes`,
  ]
  return `${bad > 0 ? 'FAIL' : 'ok  '} ${title}  ${counts.filter(Boolean).join(', ')}  ${(ms / 1000).toFixed(1)} s`
}

function judgeStores(results: readonly FileResult[], databases: HomeDatabases): StoresResult {
  const withHomes = results.filter(({ folder }) => databases.countOf(folder) > 0)
  const failed = results.flatMap((result) =>
    result.failures.map(({ name, detail }) => ({ title: titleOf(result, name), detail })),
  )
  const passed = withHomes.flatMap((result) => result.names.map((name) => titleOf(result, name)))
  const known = new Set([...passed, ...failed.map(({ title }) => title)])
  const ran = new Set(results.map(({ title }) => title))
  return {
    files: withHomes.length,
    passed: passed.length,
    failures: failed.filter(({ title }) => !isListed(title)),
    leftOut: failed.filter(({ title }) => isListed(title)).map(({ title }) => ({ title, reason: reasonOf(title) })),
    withoutHomes: results.filter((result) => !withHomes.includes(result)).map(({ title }) => title),
    stale: Object.keys(TESTS_LEFT_OUT).filter(
      (title) => ran.has(title.split(' › ')[0] ?? '') && (!known.has(title) || passed.includes(title)),
    ),
    databases: results.reduce((sum, { folder }) => sum + databases.countOf(folder), 0),
  }
}

const reasonOf = (title: string): string => TESTS_LEFT_OUT[title] ?? ''
