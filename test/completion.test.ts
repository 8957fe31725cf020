/** `completion`: the scripts complete in the real shells what the help lists. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { COMMAND_NAMES } from '../src/commands/lib/registry.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** Programs that print what the shell offers after the words of their arguments; the last word may be incomplete. */
const ASK: Readonly<Record<Shell, string>> = {
  bash: `source "$1"; shift; COMP_WORDS=(tireless "$@"); COMP_CWORD=$#; _tireless; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The functions of zsh that show words work only at a prompt.
  zsh: `compdef() { :; }; _files() { print -r -- FILES; }
    offer() { local word; for word; do [[ $word == \${words[CURRENT]}* ]] && print -r -- $word; done; return 0; }
    compadd() { shift; offer "$@"; }; _describe() { offer "\${(@)found%%:*}"; }
    source "$1"; shift; words=(tireless "$@"); CURRENT=$#words; _tireless`,
  fish: `source $argv[1]; complete -C "tireless $argv[2..-1]" | string split -f1 \\t`,
}

async function completer(t: TestContext, shell: Shell) {
  const { exit, stdout } = await tireless(freshFolder(t), 'completion', shell)
  assert.equal(exit, 0)
  const script = join(freshFolder(t), 'script')
  writeFileSync(script, stdout)
  return (...words: string[]): string[] => {
    const zero = shell === 'fish' ? [] : [shell]
    const quiet = shell === 'bash' ? ['--norc'] : shell === 'zsh' ? ['-f'] : ['--no-config']
    const result = spawnSync(shell, [...quiet, '-c', ASK[shell], ...zero, script, ...words], { encoding: 'utf8' })
    assert.equal(result.stderr, '', `${shell} ${words.join(' ')}`)
    return result.stdout.split('\n').filter((line) => line !== '')
  }
}

const FIRST_WORDS = [...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0] ?? ''))].toSorted()

for (const shell of ['bash', 'zsh', 'fish'] as const)
  describe(`completion in ${shell}`, () => {
    const isInstalled = spawnSync(shell, ['--version']).status === 0
    const skip = isInstalled ? false : `${shell} is not installed`

    test('offers every verb, sub-verb, option and value of the help, also after common options', {
      skip,
    }, async (t) => {
      const complete = await completer(t, shell)
      const offered = complete('')
      for (const word of FIRST_WORDS) assert.ok(offered.includes(word), word)
      assert.deepEqual(complete('ser').toSorted(), ['service'])
      assert.deepEqual(complete('service', '').toSorted(), ['install', 'status', 'uninstall'])
      assert.deepEqual(complete('--home', 'queue', 'service', 'un'), ['uninstall'])
      assert.deepEqual(complete('queue', 'cancel', '--how', 'im'), ['immediate'])
      assert.deepEqual(complete('completion', '').toSorted(), ['bash', 'fish', 'zsh'])
      const options = complete('upgrade', '--')
      for (const option of ['--check', '--from', '--undo', '--home', '--json', '--help'])
        assert.ok(options.includes(option), option)
      assert.ok(!options.includes('--how'))
    })
  })

test('the script starts with the line that says where to put it; an unknown shell is refused', async (t) => {
  const home = freshFolder(t)
  const { stdout } = await tireless(home, 'completion', 'bash')
  assert.match(stdout, /^# To install: tireless completion bash > ~\/\.local\/share\/bash-completion\//)
  assert.match((await tireless(home, 'completion', 'zsh')).stdout, /^#compdef tireless\n# To install: /)
  const { exit, stderr } = await tireless(home, 'completion', 'tcsh')
  assert.equal(exit, 2)
  assert.match(stderr, /bash/)
})
