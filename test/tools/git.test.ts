/** The git tool, used through whole runs in real repositories and against a real remote. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { Effect } from '../../src/domain/effect.ts'
import { CLEAN_LABEL } from '../../src/domain/label.ts'
import { type OpsGroup, requireOps } from '../../src/ports/env.ts'
import type { ToolContext } from '../../src/ports/tool.ts'
import { answerAndDrain } from '../support/approval-fixtures.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { allowHostsYaml, callStep, fakeDns, runAgent, runEachCallAlone } from '../support/serve-pages.ts'
import { inGit, serveRepository } from './git-remote.ts'

/** A repository with one commit. */
function repository(t: TestContext): string {
  const folder = join(freshFolder(t, 'git'), 'repo')
  mkdirSync(folder)
  inGit(folder, 'init', '-q', '-b', 'main')
  writeFileSync(join(folder, 'a.txt'), 'one\n')
  inGit(folder, 'add', '-A')
  inGit(folder, 'commit', '-qm', 'first')
  return folder
}

const git = (...args: string[]) => callStep('git', { args })
/** Options of tests that run git: they are skipped without a sandbox. */
const NEEDS_SANDBOX = { skip: WITHOUT_SANDBOX }

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
    assert.deepEqual([refusals[0], /metadata/.test(refusals[1] ?? '')], [undefined, true])
  })

  test('Q9: options, verbs and paths with other effects are refused before anything runs', async (t) => {
    const app = await openApp(t)
    const tool = app.service('tools').all.get('git')
    const wrong = [
      ...[
        ['-c', 'core.pager=id', 'log'],
        ['--exec-path=/x', 'status'],
        ['-C', '/', 'status'],
        ['--git-dir=/x', 'log'],
        ['-p', 'log'],
      ],
      ...[
        ['config', 'x.y', 'z'],
        ['gc'],
        ['bisect', 'run', 'id'],
        ['submodule', 'foreach', 'id'],
        ['filter-branch'],
        ['difftool'],
        ['worktree', 'add', '../x'],
      ],
      ...[
        ['archive', '--remote=x'],
        ['daemon'],
        ['hook', 'run', 'x'],
        ['apply', '../x'],
        ['bundle', 'create', '/x'],
        ['!id'],
        ['st'],
        [''],
      ],
      ...[
        ['log', '--output=/tmp/x'],
        ['log', '--outp=x'],
        ['diff', '--no-index', '/etc/passwd', '/dev/null'],
        ['diff', '/etc/passwd', '/dev/null'],
      ],
      ...[
        ['diff', '../x', 'a'],
        ['diff', '--', '/etc/passwd'],
        ['diff', '--ext-diff'],
        ['show', '--textconv'],
        ['log', '-O/etc/passwd'],
        ['show', 'HEAD:../../x'],
      ],
      ...[
        ['commit', '-F', '/etc/passwd'],
        ['commit', '--file=/etc/passwd'],
        ['commit', '-t', 'x'],
        ['commit', '-e'],
        ['commit', '-S'],
        ['commit', '--gpg-sign'],
      ],
      ...[
        ['add', '/etc/passwd'],
        ['add', '--pathspec-from-file=/etc/passwd'],
        ['add', '-p'],
        ['add', '-i'],
        ['add', '-e'],
        ['blame', '--contents', '/etc/passwd', 'a'],
      ],
      ...[
        ['rebase', '-i'],
        ['rebase', '--exec', 'id'],
        ['rebase', '-x', 'id'],
        ['init', '--template=/x'],
        ['init', '--separate-git-dir=/x'],
        ['init', '/tmp/x'],
      ],
      ...[
        ['push'],
        ['push', 'origin', 'main'],
        ['fetch', 'origin'],
        ['fetch', '--all'],
        ['pull'],
        ['clone', '/etc'],
        ['clone', '../other'],
        ['clone', 'file:///x'],
      ],
      ...[
        ['clone', 'ext::sh -c id'],
        ['clone', 'ssh://x/y'],
        ['clone', 'git@x:y'],
        ['clone', 'git://x/y'],
        ['clone', 'https://u:p@example.com/x'],
      ],
      ...[
        ['clone', 'https://example.com/x', '../y'],
        ['clone', '-u', 'id', 'https://example.com/x'],
        ['clone', '--upload-pack=id', 'https://example.com/x'],
      ],
      ...[
        ['clone', '--upload=id', 'https://example.com/x'],
        ['clone', '-c', 'a=b', 'https://example.com/x'],
        ['clone', '--template=/x', 'https://example.com/x'],
      ],
      ...[
        ['clone', '--recurse-submodules', 'https://example.com/x'],
        ['fetch', '--upload-pack', 'id', 'https://example.com/x'],
      ],
      ...[
        ['push', '--receive-pack=id', 'https://example.com/x'],
        ['push', '--exec=id', 'https://example.com/x'],
        ['ls-remote', '--upload-pack=id', 'https://example.com/x'],
      ],
      ...[['log', 'a\0b'], []],
    ]
    assert.ok(wrong.length > 70)
    for (const args of wrong) assert.equal(tool?.args.safeParse({ args }).success, false, JSON.stringify(args))
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
      writeFileSync(join(workspace, '.gitattributes'), '*.txt filter=evil\n')
      const keys = [
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
      for (const key of keys) inGit(workspace, 'config', key, trapCommand)
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
      const overrides = [
        'core.hooksPath=/dev/null',
        'core.fsmonitor=false',
        'filter.evil.clean=',
        'commit.gpgSign=false',
      ]
      const flags = overrides.flatMap((setting) => ['-c', setting])
      inGit(workspace, ...flags, 'add', '-A')
      inGit(workspace, ...flags, 'commit', '-qm', 'evil')
      const before = inGit(outer, 'log', '--format=%H')
      for (const [name, value] of Object.entries({
        GIT_DIR: join(outer, '.git'),
        GIT_WORK_TREE: outer,
        GIT_EXTERNAL_DIFF: trapCommand,
        GIT_SSH_COMMAND: trapCommand,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.pager',
        GIT_CONFIG_VALUE_0: trapCommand,
      })) {
        process.env[name] = value
        t.after(() => {
          delete process.env[name]
        })
      }
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
          [results[0]?.status, /the git configuration is unsafe/.test(results[0]?.content ?? '')],
          ['error', true],
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

/** A call as recovery sees it: the state before, the call, and the answer of its probe afterwards. */
async function recovering(t: TestContext, workspace: string, ...args: string[]) {
  const app = await openApp(t)
  const tool = app.service('tools').all.get('git')
  assert.ok(tool?.before && tool.probe)
  const env = await app.service('envs').open(workspace)
  const context = {
    ...{
      env,
      call: 's.1.0',
      clock: systemClock,
      intendedAt: Date.now(),
      seen: new Map(),
      signal: new AbortController().signal,
      cwd: '',
      say: () => {},
    },
    ops: (group: OpsGroup) => requireOps(env, group),
    origin: { agent_id: 'default', session_id: 's', turn: 1 },
    label: CLEAN_LABEL,
  } as ToolContext
  const given = { args } as never
  const before = await tool.before(given, context)
  return {
    probe: async () => tool.probe?.(given, before, context),
    run: () => tool.run(given, context),
  }
}

describe('git after a crash', NEEDS_SANDBOX, () => {
  test('case 93: an interrupted commit is recognised by the last commit; nothing is committed twice', async (t) => {
    const workspace = repository(t)
    writeFileSync(join(workspace, 'b.txt'), 'two')
    inGit(workspace, 'add', '-A')
    const call = await recovering(t, workspace, 'commit', '-m', 'second')
    assert.deepEqual(await call.probe(), { kind: 'not' })
    assert.equal((await call.run()).status, 'ok')
    assert.deepEqual(await call.probe(), {
      kind: 'happened',
      result: { status: 'ok', content: `the commit was created: ${inGit(workspace, 'rev-parse', 'HEAD')}` },
    })
    inGit(workspace, 'commit', '-q', '--allow-empty', '-m', 'of another author')
    assert.deepEqual(await call.probe(), { kind: 'unclear' })
  })

  test('case 93: an interrupted add is recognised by the index; a stale lock blocks nothing', async (t) => {
    const workspace = repository(t)
    writeFileSync(join(workspace, 'b.txt'), 'two')
    const call = await recovering(t, workspace, 'add', '-A')
    writeFileSync(join(workspace, '.git/index.lock'), '')
    assert.deepEqual(await call.probe(), { kind: 'not' })
    assert.equal((await call.run()).status, 'ok')
    assert.equal((await call.probe())?.kind, 'happened')
  })
})

describe('git and the network', NEEDS_SANDBOX, () => {
  test('push, ls-remote, clone, fetch and pull reach the address they name, through the proxy', async (t) => {
    const { port, folder, asked } = await serveRepository(t)
    const workspace = repository(t)
    const url = `http://git.test:${port}/r.git`
    const home = freshFolder(t)
    const options = { home, resolve: fakeDns({ 'git.test': '127.0.0.1' }), yaml: allowHostsYaml(`git.test:${port}`) }
    const askingOptions = {
      ...options,
      yaml: `policy: { allow_hosts: ["git.test:${port}"], grants: [{ tool: git, to: ["**"] }] }`,
    }
    const pushing = await runAgent(t, [git('push', url, 'main')], askingOptions, { workspace })
    assert.deepEqual(
      [pushing.results[0]?.status, asked],
      ['parked', []],
      'publishing asks for approval until a grant names it',
    )
    await answerAndDrain(pushing.app, 'allow', { grant: '7d' })
    await pushing.app.close()
    const again = await runAgent(t, [git('push', url, 'main'), git('push', '--force', url, 'main')], askingOptions, {
      workspace,
    })
    assert.deepEqual(
      again.results.map(({ status }) => status),
      ['ok', 'parked'],
      'the same push is granted, a force push is not',
    )
    await again.app.close()
    const calls = [git('ls-remote', url), git('fetch', url, 'main'), git('pull', '--ff-only', url, 'main')]
    const { app, results } = await runAgent(t, calls, options, { workspace })
    assert.deepEqual(
      results.map(({ status, content }) => (status === 'ok' ? status : content)),
      Array(3).fill('ok'),
    )
    assert.equal(inGit(folder, 'rev-parse', 'main'), inGit(workspace, 'rev-parse', 'main'))
    await app.close()
    const cloned = await runAgent(
      t,
      [git('clone', url, 'copy'), callStep('view_file', { path: 'copy/a.txt' })],
      options,
    )
    assert.equal(cloned.results[1]?.content, 'one\n')
    assert.ok(asked.length >= 8)
  })

  test('private addresses and other hosts are refused, also behind names and redirects', async (t) => {
    const { port, asked } = await serveRepository(t)
    const redirectServer = http.createServer((request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end(),
    )
    await new Promise<void>((resolve) => redirectServer.listen(0, '127.0.0.1', resolve))
    t.after(() => redirectServer.close())
    const redirectPort = (redirectServer.address() as AddressInfo).port
    const urls = [
      `http://127.0.0.1:${port}/r.git`,
      `http://localhost:${port}/r.git`,
      `http://evil.example:${port}/r.git`,
      `http://hop.test:${redirectPort}/r.git`,
      `http://2130706433:${port}/r.git`,
    ]
    const options = {
      resolve: fakeDns({ 'evil.example': '127.0.0.1', 'hop.test': '127.0.0.1' }),
      yaml: allowHostsYaml(`hop.test:${redirectPort}`),
    }
    const { results } = await runEachCallAlone(
      t,
      urls.map((url) => git('ls-remote', url)),
      options,
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      Array(5).fill('error'),
    )
    assert.deepEqual(asked, [])
  })
})
