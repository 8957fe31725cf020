/**
 * Keeps a home of the schema that this checkout writes: node test/homes/keep-main.ts
 * Run it on the last commit before the schema changes. What it writes is never written again: it stands for the homes that people have.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SCHEMA_VERSION } from '../../src/adapters/stores/sqlite/schema.ts'
import { dumpDatabase, HOME } from './dump.ts'
import { rewriteFiles } from './kept.ts'
import { liveAndDie, liveOn, YAML } from './scene.ts'

const [home] = process.argv.slice(2)
if (home !== undefined) await liveAndDie(home)
else await keep()

async function keep(): Promise<void> {
  const to = join(import.meta.dirname, `schema-${SCHEMA_VERSION}`)
  if (existsSync(to)) throw new Error(`${to} is there; a home that is kept stays as it is`)
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-kept-')))
  try {
    writeFileSync(join(made, 'tireless.yaml'), YAML)
    const first = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, made], { stdio: 'inherit' })
    if (first.signal !== 'SIGKILL') throw new Error(`the first life ended with ${first.status}, not by its kill`)
    await liveOn(made)
    mkdirSync(to)
    writeFileSync(join(to, 'tireless.sql'), dumpDatabase(join(made, 'tireless.db'), made))
    for (const name of ['tireless.yaml', 'kernels', 'workspaces'])
      if (existsSync(join(made, name))) cpSync(join(made, name), join(to, name), { recursive: true })
    rewriteFiles(to, made, HOME)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
