/** Texts of the part Doctor of Settings. By the name of a check: what it is about, and why it matters. */

interface CheckText {
  readonly name: string
  readonly why: string
  /** What to do, if the server's own remedy is in another language. */
  readonly remedy?: string
}

const enChecks: Readonly<Record<string, CheckText>> = {
  home: { name: 'Home', why: 'Everything that lasts is in it.' },
  node: { name: 'Node.js', why: 'Older versions lack what the program needs.' },
  sqlite: { name: 'SQLite', why: 'Some versions can lose data.' },
  privacy: { name: 'Privacy of the home', why: 'Others on this machine could read keys and results.' },
  configuration: { name: 'Configuration', why: 'A file with errors is not used; the last good one stays.' },
  disk: { name: 'Disk space', why: 'Without room no work can be accepted.' },
  'file system': { name: 'File system', why: 'Network disks do not keep what they promise.' },
  git: { name: 'git', why: 'Without it, changes in your own folders cannot be undone.' },
  bash: { name: 'bash', why: 'Without it, commands run in a plainer shell.' },
  sandbox: { name: 'Sandbox', why: 'It keeps commands of agents away from your files.' },
  limits: { name: 'Limits of commands', why: 'They keep commands from using up the machine.' },
  durability: { name: 'Durability', why: 'What was accepted must survive a power cut.' },
  'acknowledged work': { name: 'Accepted work', why: 'Something that was accepted may have been lost.' },
  database: { name: 'Database', why: 'A damaged database cannot be trusted.' },
  'stored rows': { name: 'Stored records', why: 'Records that cannot be read are skipped.' },
  schedules: { name: 'Schedules', why: 'An invalid schedule never fires.' },
  model: { name: 'Model', why: 'Without a real model, agents understand no language.' },
  notices: { name: 'Notices', why: 'Without a target you hear nothing while this page is closed.' },
  documents: { name: 'Documents', why: 'An edit that is not accepted has no effect.' },
  residents: { name: 'Residents', why: 'A resident that fails sees nothing.' },
  'dead work': { name: 'Work set aside', why: 'It failed three times and is not tried again by itself.' },
  'unfinished undos': { name: 'Undos that are half done', why: 'Files are partly as before and partly not.' },
  'unknown outcomes': { name: 'Unclear outcomes', why: 'Runs wait until you say what happened.' },
  'orphaned work': { name: 'Orphaned work', why: 'It is marked as running, but no process works on it.' },
  leftovers: { name: 'Leftovers', why: 'Folders of finished calls take up space.' },
}

const zhChecks: Readonly<Record<string, CheckText>> = {
  home: { name: '主目录', why: '所有需要保留的内容都在里面。' },
  node: { name: 'Node.js', why: '旧版本缺少程序需要的功能。', remedy: '从 nodejs.org 安装更新的版本。' },
  sqlite: { name: 'SQLite', why: '某些版本会丢失数据。' },
  privacy: {
    name: '主目录的私密性',
    why: '这台机器上的其他人可能读到密钥和结果。',
    remedy: '点“修复”，收回其他人的访问权限。',
  },
  configuration: {
    name: '配置',
    why: '有错误的文件不会使用，继续用上一份正确的。',
    remedy: '改正 tireless.yaml 里的错误。',
  },
  disk: { name: '磁盘空间', why: '没有空间就无法接受工作。', remedy: '腾出一些空间。' },
  'file system': { name: '文件系统', why: '网络磁盘做不到它承诺的可靠。', remedy: '把主目录放到本地磁盘。' },
  git: { name: 'git', why: '没有它，你自己文件夹里的改动无法撤销。', remedy: '安装 git。' },
  bash: { name: 'bash', why: '没有它，命令只能在更简单的 shell 里运行。', remedy: '安装 bash。' },
  sandbox: { name: '沙箱', why: '它让智能体的命令碰不到你的文件。' },
  limits: { name: '命令的限制', why: '防止命令耗尽机器资源。' },
  durability: { name: '持久性', why: '接受了的工作断电也不能丢。' },
  'acknowledged work': {
    name: '已接受的工作',
    why: '可能有已接受的内容丢失了。',
    remedy: '检查丢失的内容；知道了就点“修复”确认。',
  },
  database: { name: '数据库', why: '损坏的数据库不可信。', remedy: '停止内核，然后恢复备份：tireless restore DIR。' },
  'stored rows': {
    name: '存储的记录',
    why: '读不出来的记录会被跳过。',
    remedy: '点“修复”，把它们移到一边；不会删除。',
  },
  schedules: { name: '日程', why: '无效的日程不会触发。', remedy: '移除无效的日程。' },
  model: { name: '模型', why: '没有真正的模型，智能体不理解语言。', remedy: '在“模型”里添加一个模型。' },
  notices: { name: '通知', why: '没有去处的话，页面关着时你什么都收不到。', remedy: '在“通道”里配对一个聊天。' },
  documents: { name: '文档', why: '没有接受的修改不起作用。', remedy: '查看并接受这个修改。' },
  residents: { name: '常驻智能体', why: '出错的常驻智能体什么都看不到。' },
  'dead work': { name: '搁置的工作', why: '它失败了三次，不会自动重试。', remedy: '在“工作”里查看，决定重试或放弃。' },
  'unfinished undos': {
    name: '只做了一半的撤销',
    why: '文件一部分已改回，一部分没有。',
    remedy: '用 `tireless undo ID --yes` 完成它，或用 `tireless undo ID --give-up` 放弃它。',
  },
  'unknown outcomes': {
    name: '结果不明',
    why: '在你说明发生了什么之前，运行一直等着。',
    remedy: '在“等你处理”里回答。',
  },
  'orphaned work': {
    name: '无人处理的工作',
    why: '标记为运行中，但没有进程在做。',
    remedy: '启动内核继续：tireless start。',
  },
  leftovers: { name: '残留', why: '已结束的调用的文件夹占用空间。', remedy: '点“修复”删除它们。' },
}

const en = {
  intro: 'Checks the home and the machine. Nothing is changed unless you say so.',
  checking: 'Checking …',
  again: 'Check again',
  allGood: 'Everything is in order.',
  problems: (count: number) => (count === 1 ? '1 finding' : `${count} findings`),
  passed: (count: number) => `${count} checks passed`,
  found: 'Found',
  why: 'Why it matters',
  remedy: 'Do this',
  fix: 'Fix it',
  pressFix: 'Press “Fix it”.',
  fixAll: 'Fix what can be fixed',
  fixed: 'Fixed.',
  notFixed: 'It could not be fixed. See what was found.',
  goThere: 'Go there',
  checks: enChecks,
  kinds: {
    'mcp server': { name: 'MCP server', why: 'Agents cannot use its tools.' },
    source: { name: 'Source', why: 'Residents hear nothing from it.' },
    channel: { name: 'Channel', why: 'Messages do not come through.' },
    plugin: { name: 'Plugin', why: 'What it adds is missing.' },
  } as Readonly<Record<string, CheckText>>,
}

const zh: typeof en = {
  intro: '检查主目录和机器。除非你要求，什么都不会改动。',
  checking: '正在检查……',
  again: '重新检查',
  allGood: '一切正常。',
  problems: (count) => `发现 ${count} 个问题`,
  passed: (count) => `${count} 项检查通过`,
  found: '发现',
  why: '为什么重要',
  remedy: '这样做',
  fix: '修复',
  pressFix: '点“修复”。',
  fixAll: '修复所有能修复的',
  fixed: '已修复。',
  notFixed: '没能修复，请看发现的内容。',
  goThere: '去处理',
  checks: zhChecks,
  kinds: {
    'mcp server': { name: 'MCP 服务器', why: '智能体不能使用它的工具。', remedy: '在“MCP 服务器”里测试它。' },
    source: { name: '来源', why: '常驻智能体听不到它的消息。' },
    channel: { name: '通道', why: '消息传不过去。', remedy: '在“通道”里查看。' },
    plugin: { name: '插件', why: '缺少它添加的内容。', remedy: '在“插件”里查看、批准或移除。' },
  },
}

export const DOCTOR_TEXTS = { en, zh }
