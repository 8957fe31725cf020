/**
 * Keeps a home of the schema that this checkout writes: node test/homes/keep-main.ts
 * Run it on the last commit before the schema changes. A kept home is never overwritten: it represents the homes of
 * users.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SCHEMA_VERSION } from '../../src/adapters/stores/sqlite/schema.ts'
import { dumpDatabase, HOME } from './dump-database.ts'
import { runAfterKill, runUntilKilled, YAML } from './kept-home-content.ts'
import { rewriteFiles } from './kept-homes.ts'

const [home] = process.argv.slice(2)
if (home !== undefined) await runUntilKilled(home)
else await keepHome()

async function keepHome(): Promise<void> {
  const to = join(import.meta.dirname, `schema-${SCHEMA_VERSION}`)
  if (existsSync(to)) throw new Error(`${to} exists; a kept home must not change`)
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-kept-')))
  try {
    writeFileSync(join(made, 'tireless.yaml'), YAML)
    const first = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, made], { stdio: 'inherit' })
    if (first.signal !== 'SIGKILL') throw new Error(`the first process ended with ${first.status}, not by its kill`)
    await runAfterKill(made)
    mkdirSync(to)
    writeFileSync(join(to, 'tireless.sql'), dumpDatabase(join(made, 'tireless.db'), made))
    for (const name of ['tireless.yaml', 'kernels', 'workspaces'])
      if (existsSync(join(made, name))) cpSync(join(made, name), join(to, name), { recursive: true })
    rewriteFiles(to, made, HOME)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
