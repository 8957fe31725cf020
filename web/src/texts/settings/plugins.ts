/** Texts of the part Plugins of Settings. */

const en = {
  intro:
    'Code that adds tools, channels and other parts. Nothing of a plugin runs before you approve its ' +
    'files, and every later change needs a new approval.',
  list: 'Plugins',
  empty: 'There are none. To write one: tireless plugins new NAME.',
  states: {
    ...{ loaded: 'loaded', approved: 'approved; loaded at the next start', unapproved: 'waits for your approval' },
    ...{ changed: 'changed since you approved it', failed: 'failed' },
  },
  trusts: {
    trusted: 'runs inside Tireless, with all your rights',
    sandboxed: 'runs in its own process, in the sandbox',
  },
  version: (version: string) => `version ${version}`,
  review: 'Review and approve',
  show: 'What it may do',
  source: 'File, folder or installed npm package',
  sourceHelp: 'A path on the machine of Tireless; a relative one starts at the home.',
  look: 'Look at it',
  dialogTitle: (name: string) => `What ${name} may do`,
  hash: 'Hash of its files',
  hashHelp: 'Compare it with what the author published. The approval holds for exactly these files.',
  approve: 'Approve these files',
  add: 'Add it and approve these files',
  approved: (name: string) => `${name} is approved. It is loaded at the next start.`,
  added: (name: string) => `${name} was added. It is loaded at the next start.`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHelp:
    'Its entry in tireless.yaml and your approval are deleted; its files stay. What is loaded runs ' +
    'until the next start. tireless.yaml as it is now is kept in versions/files.',
  removed: (name: string) => `${name} was removed.`,
}

const zh: typeof en = {
  intro: '插件是添加工具、通道等部分的代码。在你批准它的文件之前，什么都不会运行；之后每次改动都要重新批准。',
  list: '插件',
  empty: '还没有插件。新建一个：tireless plugins new NAME。',
  states: {
    ...{ loaded: '已加载', approved: '已批准，下次启动时加载', unapproved: '等你批准' },
    ...{ changed: '批准之后有改动', failed: '出错' },
  },
  trusts: { trusted: '在 Tireless 进程内运行，拥有你的全部权限', sandboxed: '在沙箱里的独立进程中运行' },
  version: (version) => `版本 ${version}`,
  review: '查看并批准',
  show: '它可以做什么',
  source: '文件、文件夹或已安装的 npm 包',
  sourceHelp: '运行 Tireless 的机器上的路径；相对路径从主目录开始。',
  look: '查看',
  dialogTitle: (name) => `${name} 可以做什么`,
  hash: '文件的哈希值',
  hashHelp: '请和作者公布的对比。批准只对这些文件有效。',
  approve: '批准这些文件',
  add: '添加并批准这些文件',
  approved: (name) => `已批准 ${name}，下次启动时加载。`,
  added: (name) => `已添加 ${name}，下次启动时加载。`,
  removeTitle: (name) => `移除 ${name}？`,
  removeHelp:
    '会删除它在 tireless.yaml 里的条目和你的批准，文件保留。已加载的会运行到下次启动。现在的 tireless.yaml 保留在 versions/files。',
  removed: (name) => `已移除 ${name}。`,
}

export const PLUGIN_TEXTS = { en, zh }
