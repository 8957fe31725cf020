import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHarmlessConfig } from './git-config.ts'
import { protectionReason } from './protected-names.ts'

test('file tools cannot write protected names, at any depth and in any spelling', () => {
  const refused = `.git/config a/.git/hooks/x a/.GIT/x git~1/x .vscode/tasks.json a/b/.vscode/x .envrc a/.envrc
    .husky/pre-commit CLAUDE.md a/claude.md AGENTS.md a/.claude/settings.json .Cursor/x x/.mcp.json tireless.yaml
    HEAD a/HEAD a/head a/commondir .idea/x .jj/repo/config.toml a/.JJ/repo .pijul/config .git/sl/config`
  for (const path of refused.split(/\s+/)) assert.notEqual(protectionReason(path.split('/')), undefined, path)
  assert.notEqual(protectionReason(['.clau\u200dde', 'x']), undefined)
  const allowed = `package.json Makefile .github/workflows/ci.yml .gitignore .gitattributes src/config src/refs/x
    src/objects/x hooks/x a/tireless.yaml .env .editorconfig .npmrc README.md claude.txt head.ts HEADER`
  for (const path of allowed.split(/\s+/)) assert.equal(protectionReason(path.split('/')), undefined, path)
})

test('a git configuration is harmless only if every line of it is understood', () => {
  const own =
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = https://example.org/a.git\n'
  const isHarmless = (more: string): boolean => isHarmlessConfig(own + more, (tree) => tree === '../sub')
  for (const more of [
    '',
    '# note\n',
    '[user]\n\tname = A B\n',
    '[branch "a.b"]\n\tmerge = refs/heads/a\n',
    '[core]\n\tworktree = ../sub\n',
  ])
    assert.equal(isHarmless(more), true, more)
  for (const more of [
    '[core]\n\tfsmonitor = x\n',
    '[CORE]\n\tFSMonitor = x\n',
    '[core] fsmonitor = x\n',
    '[core]\n\tbare = false\\\n\tfsmonitor = x\n',
    '[core]\r\tfsmonitor = x\n',
    '[core]\n\teol = "lf" # \n',
    '[include]\n\tpath = ../x\n',
    '[remote "x"]\n\turl = ext::sh -c x\n',
    '[remote "x"]\n\tuploadpack = x\n',
    '[remote "x\\"]\n\turl = y\n',
    '[core]\n\tworktree = /\n',
    '[alias]\n\ts = !x\n',
    '\u2028[core]\n',
    'bare = true',
    '[core',
  ])
    assert.equal(isHarmless(more), false, more)
})
