/** Packages of two versions of the program, and an installation of the first one, for tests of `upgrade`. */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Writes a package without dependencies: it finds those of the installation around it, so that tests need no network.
 * `real`: built as for users, by scripts/build.mjs; otherwise only the types are removed, which is much faster.
 */
export function buildPackage(folder: string, real: boolean): void {
  if (real) execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), folder], { stdio: 'ignore' })
  else stripPackage(folder)
  const { dependencies: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
}

function stripPackage(folder: string): void {
  const source = join(ROOT, 'src')
  for (const file of globSync('**/*.ts', { cwd: source, exclude: (name) => name.endsWith('.test.ts') })) {
    const target = join(folder, 'lib', file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    const code = stripTypeScriptTypes(readFileSync(join(source, file), 'utf8'))
    // Imports, and names of files that worker threads load.
    writeFileSync(target, code.replaceAll(/(['"`])(\.{1,2}\/[^'"`\n]+)\.ts\1/g, '$1$2.js$1'))
  }
  for (const file of globSync('prompts/**/*.md', { cwd: source })) cpSync(join(source, file), join(folder, 'lib', file))
  cpSync(join(ROOT, 'agents'), join(folder, 'agents'), { recursive: true })
  cpSync(join(ROOT, 'bin/installed.cjs'), join(folder, 'bin/tireless.cjs'))
  const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const bin = { tireless: 'bin/tireless.cjs' }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'tireless', version, type: 'module', engines, bin }),
  )
}

/** Changes a copy of `from` and packs it. Contract: the path of the tarball. */
export function packVersion(from: string, version: string, change: (folder: string) => void = () => {}): string {
  const work = join(dirname(from), `pack-${version}`)
  const folder = join(work, 'package')
  cpSync(from, folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  change(folder)
  const tarball = join(dirname(from), `tireless-${version}.tgz`)
  execFileSync('tar', ['-czf', tarball, '-C', work, 'package'])
  rmSync(work, { recursive: true })
  return tarball
}

/** Raises the schema by one, with a migration that adds a table; `after`: SQL that the migration also executes. */
export function raiseSchema(folder: string, after = ''): void {
  const stores = join(folder, 'lib/adapters/stores/sqlite')
  const notes = 'CREATE TABLE added_by_upgrade (n INTEGER PRIMARY KEY) STRICT;'
  edit(join(stores, 'schema.js'), /(SCHEMA_VERSION = )(\d+)/, (_, text, version) => `${text}${Number(version) + 1}`)
  edit(join(stores, 'schema.js'), /\nCREATE TABLE set_aside/, (table) => `\n${notes}${table}`)
  edit(
    join(stores, 'migrations/list.js'),
    /migrations: \[(.*?)\]/,
    (_, list) => `migrations: [${list}, { to: SCHEMA_VERSION, apply: ${JSON.stringify(`${notes}${after}`)} }]`,
  )
}

export function edit(file: string, pattern: RegExp, to: (...found: string[]) => string): void {
  const before = readFileSync(file, 'utf8')
  const after = before.replace(pattern, to as (text: string) => string)
  if (after === before) throw new Error(`${file} no longer contains ${pattern}: adapt the test`)
  writeFileSync(file, after)
}

/** Installs a package as npm does, with the checkout's dependencies. Contract: the path of the command `tireless`. */
export function installInto(consumer: string, built: string): string {
  const modules = join(consumer, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  cpSync(built, join(modules, 'tireless'), { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  const command = join(modules, '.bin/tireless')
  chmodSync(join(modules, 'tireless/bin/tireless.cjs'), 0o755)
  symlinkSync('../tireless/bin/tireless.cjs', command)
  return command
}

/** An npm that needs no network and little time: it unpacks the tarball that it is to install. */
export const FAKE_NPM = `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
[ -n "$prefix" ] || exit 1
mkdir -p "$prefix/node_modules/tireless"
exec tar -xzf "$1" --strip-components=1 -C "$prefix/node_modules/tireless"
`

export function writeProgram(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.draft`), text)
  chmodSync(join(folder, `${name}.draft`), 0o755)
  renameSync(join(folder, `${name}.draft`), join(folder, name))
}
