/** The commands of README.md, typed one after the other as they stand there: fresh HOME, no key. */

import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { freshFolder } from './support/open-app.ts'
import { noPseudoTerminal, PseudoTerminal } from './support/pseudo-terminal.ts'

const README = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const [, BLOCK = ''] = /## The command line\n\n```sh\n([\s\S]*?)```/.exec(README) ?? []
const COMMANDS = BLOCK.trim().split('\n')

/** Commands that run until Ctrl-C, and what they show first. */
const ENDLESS: readonly (readonly [command: RegExp, until: RegExp])[] = [
  [/tireless start /, /http:\/\/127\.0\.0\.1:\d+/],
  [/tireless logs -f/, /worker joined/],
]

test('every command of README.md succeeds, in sequence', { skip: noPseudoTerminal }, async (t) => {
  assert.ok(COMMANDS.length >= 19 && COMMANDS.every((command) => command.startsWith('./bin/tireless ')))
  const place = freshFolder(t, 'readme')
  const folder = join(place, 'folder')
  mkdirSync(folder)
  const env = { PATH: process.env.PATH, HOME: place, TERM: 'xterm', COLUMNS: '200', LANG: 'en_US.UTF-8' }
  const terminal = new PseudoTerminal(folder, env)
  let run = 'none'
  for (const command of COMMANDS) {
    const until = ENDLESS.find(([endless]) => endless.test(command))?.[1]
    const typed = command
      .replace(/ ID(?= |$)/, ' last')
      .replace(/ RUN(?= |$)/, ` ${run}`)
      .replace(/ A B(?= |$)/, ` ${run} ${run}`)
    const { exit, screen } = await terminal.type(typed, until ? { until } : { typed: '\n' })
    assert.equal(exit, until ? 130 : 0, `${typed}\n${screen}`)
    if (command.startsWith('./bin/tireless run '))
      run = /Trace: tireless trace show (\S+)/.exec(screen)?.[1] ?? assert.fail(screen)
    // Another test may use the usual port at the same time.
    if (command.startsWith('./bin/tireless init'))
      appendFileSync(join(place, '.tireless/tireless.yaml'), '\nserver: { port: 0 }\n')
  }
})
