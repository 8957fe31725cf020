/** Everyday commands behave the same inside and outside the sandbox: same output, same exit code. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { requireOps } from '../../src/ports/env.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const MIN_COMMANDS = 300
const SHARE = 0.98

const COMMANDS = readFileSync(join(import.meta.dirname, 'everyday-commands.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# A project\n\nIt has  some text,\nover a few lines,\nand a * in it.\n',
  'words.txt': 'apple\npear\napple\nbanana\ncherry\n',
  'copy-me.txt': 'apple\npear\n',
  'numbers.txt': '3\n10\n2\n33\n1\n',
  'table.csv': 'name,town,age\nann,berlin,31\nbob,paris,19\n',
  'data.json': '{"name": "thing", "list": [1, 2], "deep": {"a": null}}\n',
  'run.sh': '#!/bin/bash\necho "ran with $# arguments: $*"\n',
  'lib.sh': 'greet() { echo "hello $1"; }\n',
  'src/app.py': 'import sys\n\n\ndef main():\n    print("app", len(sys.argv))\n\n\nmain()\n',
  'src/util.py': 'def twice(x):\n    return 2 * x\n',
  Makefile: 'all:\n\t@echo all\ngreet:\n\techo hello\n',
}

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/nowhere' }

/** Runs each line in a shell of its own and records its output and exit code. */
const DRIVER = `
n=0
while IFS= read -r line <&9; do
  out=$(bash -c -- "$line" < /dev/null 2>&1); code=$?
  printf '%s\\x1f%s\\x1e' "$code" "$out"
done 9< .commands > .results 2> /dev/null`

test('Q8: at least 98 of 100 everyday commands do the same inside and outside (300 or more tried)', {
  skip: WITHOUT_SANDBOX,
}, async (t) => {
  assert.ok(COMMANDS.length >= MIN_COMMANDS, `${COMMANDS.length} commands`)
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-benign-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const template = join(base, 'template')
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(template, name, '..'), { recursive: true })
    writeFileSync(join(template, name), text)
  }
  writeFileSync(join(template, '.commands'), `${COMMANDS.join('\n')}\n`)
  writeFileSync(join(template, '.gitignore'), '.*\n')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', template, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
  const sandbox = createSandbox({ folder: join(base, 'sandbox'), hidden: [], env: process.env, clock: systemClock })
  const results = async (launcher: typeof sandbox.launcher | undefined): Promise<string[]> => {
    // In a folder of the same name, one after the other: the output may contain paths.
    const ws = join(base, 'ws')
    cpSync(template, ws, { recursive: true })
    const env = await hostEnvs({ callsDir: join(base, 'calls'), clock: systemClock, env: ENV, launcher }).open(ws)
    const done = await requireOps(env, 'process').run('all', DRIVER, {
      timeoutMs: 300_000,
      signal: new AbortController().signal,
    })
    assert.equal(done.ended, 'exited', done.output)
    const records = readFileSync(join(ws, '.results'), 'utf8').split('\x1e').slice(0, -1)
    rmSync(ws, { recursive: true })
    return records
  }
  const [inside, outside] = [await results(sandbox.launcher), await results(undefined)]
  assert.deepEqual(
    { inside: inside.length, outside: outside.length },
    { inside: COMMANDS.length, outside: COMMANDS.length },
  )
  const different = COMMANDS.flatMap((command, at) =>
    inside[at] === outside[at] ? [] : [{ command, inside: inside[at], outside: outside[at] }],
  )
  const share = 1 - different.length / COMMANDS.length
  t.diagnostic(`${COMMANDS.length - different.length} of ${COMMANDS.length} the same`)
  assert.ok(share >= SHARE, JSON.stringify(different, undefined, 1))
  if (process.env.SHOW_DIFFERENT) console.log(different)
})
