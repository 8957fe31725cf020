/** The git tool, used through whole runs in real repositories. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { Effect } from '../../src/domain/effect.ts'
import { git, NEEDS_SANDBOX, repository } from '../support/git-tool.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { callStep, runAgent } from '../support/serve-pages.ts'
import { inGit } from './git-remote.ts'
import { REFUSED_GIT_ARGS } from './refused-git-args.ts'

/** Keys of git's configuration whose value is a program or a folder of programs. */
const PROGRAM_KEYS = [
  ...[
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.sshCommand',
    'core.askPass',
    'core.alternateRefsCommand',
    'pager.log',
    'pager.status',
  ],
  ...[
    'credential.helper',
    'gpg.program',
    'filter.evil.clean',
    'filter.evil.smudge',
    'sequence.editor',
    'init.templateDir',
  ],
]

/** Makes each key and hook of the repository run `trapCommand`. */
function setTraps(workspace: string, trapCommand: string): void {
  writeFileSync(join(workspace, '.gitattributes'), '*.txt filter=evil\n')
  for (const key of PROGRAM_KEYS) inGit(workspace, 'config', key, trapCommand)
  for (const [key, value] of [
    ['alias.status', `!${trapCommand}`],
    ['core.hooksPath', workspace],
    ['commit.gpgSign', 'true'],
    ['log.showSignature', 'true'],
  ] as const)
    inGit(workspace, 'config', key, value)
  for (const hook of [
    'pre-commit',
    'post-commit',
    'prepare-commit-msg',
    'post-checkout',
    'post-index-change',
    'reference-transaction',
  ])
    for (const place of [join(workspace, hook), join(workspace, '.git/hooks', hook)]) {
      mkdirSync(join(place, '..'), { recursive: true })
      writeFileSync(place, readFileSync(trapCommand), { mode: 0o755 })
    }
}

/** Commits the files of `workspace` without running its traps. */
function commitSafely(workspace: string): void {
  const overrides = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'filter.evil.clean=', 'commit.gpgSign=false']
  const flags = overrides.flatMap((setting) => ['-c', setting])
  inGit(workspace, ...flags, 'add', '-A')
  inGit(workspace, ...flags, 'commit', '-qm', 'evil')
}

function setVariables(t: TestContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value
    t.after(() => {
      delete process.env[name]
    })
  }
}

describe('git', () => {
  test('status, add, commit, log, diff and branches work, and commits name their author', NEEDS_SANDBOX, async (t) => {
    const workspace = repository(t)
    const calls = [
      callStep('create_file', { path: 'b.txt', content: 'two\n' }),
      ...[git('status', '--short'), git('add', '-A'), git('commit', '-m', "second; it's $HOME `id`")],
      ...[
        git('log', '--oneline', '-2'),
        git('switch', '-c', 'side'),
        git('branch'),
        git('diff', 'main..side'),
        git('show', 'HEAD:a.txt'),
      ],
    ]
    const { results } = await runAgent(t, calls, {}, { workspace })
    assert.deepEqual(
      results.map(({ status }) => status),
      Array(9).fill('ok'),
    )
    assert.equal(results[1]?.content, '?? b.txt')
    assert.match(results[4]?.content ?? '', /second; it's \$HOME `id`\n.* first/)
    assert.equal(results[6]?.content, 'main\n* side')
    assert.equal(results[8]?.content, 'one')
    assert.equal(inGit(workspace, 'log', '-1', '--format=%an <%ae>'), 'Tireless <tireless@localhost>')
  })

  test('effects follow from the verb and its options', async (t) => {
    const app = await openApp(t)
    const tool = app.service('tools').all.get('git')
    assert.ok(tool)
    const effect = (...args: string[]): string => {
      const { recovery, reach, host = '' } = tool.effect(tool.args.parse({ args })) as Effect
      return `${recovery} ${reach} ${host}`.trim()
    }
    const url = 'https://example.com/o/r.git'
    const expected: readonly (readonly [string, readonly string[]])[] = [
      ['pure none', ['status']],
      ['pure none', ['log', '-5', '--stat']],
      ['pure none', ['branch', '-a']],
      ['pure none', ['stash', 'list']],
      ['reconcilable workspace', ['add', '.']],
      ['reconcilable workspace', ['commit', '-am', 'x']],
      ['once workspace', ['commit', '--amend', '--no-edit']],
      ['once workspace', ['checkout', 'main']],
      ['once workspace', ['merge', 'side']],
      ['once workspace', ['reset', '--hard', 'HEAD~1']],
      ['once workspace', ['branch', 'new']],
      ['once workspace', ['stash']],
      ['once workspace', ['init']],
      ['pure network example.com', ['ls-remote', url]],
      ['idempotent network example.com', ['fetch', url, 'main']],
      ['once network example.com', ['clone', url]],
      ['once network example.com', ['pull', url, 'main']],
      ['once third_party', ['push', url, 'main']],
    ]
    for (const [what, args] of expected) assert.equal(effect(...args), what, args.join(' '))
    assert.deepEqual(tool.destinations?.({ args: ['push', url, 'main'] } as never), [url])
    assert.deepEqual(tool.destinations?.({ args: ['commit', '-m', 'x'] } as never), [])
    const refusals = [url, 'http://169.254.169.254/r.git'].map((to) => tool.refuses?.({ args: ['push', to] } as never))
    assert.deepEqual(
      { first: refusals[0], namesMetadata: /metadata/.test(refusals[1] ?? '') },
      { first: undefined, namesMetadata: true },
    )
  })

  test('Q9: options, verbs and paths with other effects are refused before anything runs', async (t) => {
    const app = await openApp(t)
    const tool = app.service('tools').all.get('git')
    assert.ok(REFUSED_GIT_ARGS.length > 70)
    for (const args of REFUSED_GIT_ARGS)
      assert.equal(tool?.args.safeParse({ args }).success, false, JSON.stringify(args))
  })

  test(
    'case 121: nothing that the repository, its configuration or the environment names is run',
    NEEDS_SANDBOX,
    async (t) => {
      const workspace = repository(t)
      const outer = repository(t)
      const traceFile = join(freshFolder(t, 'ran'), 'ran')
      const trapCommand = join(workspace, 'evil')
      writeFileSync(trapCommand, `#!/bin/sh\necho "$0 $*" >> ${traceFile}\ncat\n`, { mode: 0o755 })
      setTraps(workspace, trapCommand)
      commitSafely(workspace)
      const before = inGit(outer, 'log', '--format=%H')
      setVariables(t, {
        GIT_DIR: join(outer, '.git'),
        GIT_WORK_TREE: outer,
        GIT_EXTERNAL_DIFF: trapCommand,
        GIT_SSH_COMMAND: trapCommand,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.pager',
        GIT_CONFIG_VALUE_0: trapCommand,
      })
      const calls = [
        callStep('create_file', { path: 'c.txt', content: 'three\n' }),
        ...[
          git('status'),
          git('add', '-A'),
          git('commit', '-m', 'ours'),
          git('log', '-p', '-1', '--format=%H %G?'),
          git('diff', 'HEAD~1'),
        ],
        ...[
          git('switch', '-c', 'side'),
          git('checkout', 'main'),
          git('merge', '--no-ff', 'side'),
          git('blame', 'c.txt'),
        ],
      ]
      const { results } = await runAgent(t, calls, {}, { workspace })
      assert.deepEqual(
        results.map(({ status }) => status),
        Array(10).fill('ok'),
      )
      assert.equal(existsSync(traceFile), false, existsSync(traceFile) ? readFileSync(traceFile, 'utf8') : '')
      delete process.env.GIT_DIR
      assert.equal(inGit(outer, 'log', '--format=%H'), before)
    },
  )

  test(
    'git does not run with a configuration that points elsewhere and cannot be overridden',
    NEEDS_SANDBOX,
    async (t) => {
      for (const [key, value] of [
        ['url.https://evil.example/.insteadOf', 'https://example.com/'],
        ['merge.x.driver', 'id'],
        ['diff.x.textconv', 'id'],
        ['http.proxy', 'http://evil'],
      ] as const) {
        const workspace = repository(t)
        inGit(workspace, 'config', key, value)
        const { results } = await runAgent(t, [git('status')], {}, { workspace })
        assert.deepEqual(
          { status: results[0]?.status, saysWhy: /the git configuration is unsafe/.test(results[0]?.content ?? '') },
          { status: 'error', saysWhy: true },
          key,
        )
      }
    },
  )

  test(
    'without a repository of its own it says so, and uses none above or through a link',
    NEEDS_SANDBOX,
    async (t) => {
      const outer = repository(t)
      const calls = [git('status'), git('log'), git('init'), git('status', '--short')]
      const { results, workspace } = await runAgent(t, calls)
      assert.deepEqual(
        results.map(({ status }) => status),
        ['error', 'error', 'ok', 'ok'],
      )
      assert.match(results[0]?.content ?? '', /not a git repository; create one with: init/)
      assert.ok(existsSync(join(workspace, '.git')))
      const folder = join(freshFolder(t, 'linked'), 'linked')
      mkdirSync(folder)
      symlinkSync(join(outer, '.git'), join(folder, '.git'))
      writeFileSync(join(folder, 'a.txt'), 'one\n')
      await assert.rejects(
        runAgent(t, [git('log')], {}, { workspace: folder }),
        /its \.git points to a repository that/,
      )
    },
  )
})
