/** Chinese for what the server says in English about health, degraded parts, idle cycles and waits. */

const END_UNDO = '请运行 `tireless undo $1 --yes` 完成它，或 `tireless undo $1 --give-up` 放弃它'

const HEALTH: readonly (readonly [RegExp, string])[] = [
  [/^the last cycle failed: (\d+) of (\d+) dispatches \((.*)\)$/s, '上一个周期失败：$2 个任务中 $1 个失败（$3）'],
  [/^the last cycle failed: (.*)$/s, '上一个周期失败：$1'],
  [
    /^the last (\d+) cycles failed: (\d+) of (\d+) dispatches \((.*)\)$/s,
    '最近 $1 个周期失败：$3 个任务中 $2 个失败（$4）',
  ],
  [/^the last (\d+) cycles failed: (.*)$/s, '最近 $1 个周期失败：$2'],
  [/^no cycle has succeeded since the kernel was started$/, '内核启动以来没有一个周期成功'],
  [/^no cycle since (\S+), though one is due every (\d+) s$/, '自 $1 起没有周期，而每 $2 秒应有一个'],
  [/^the database is damaged: (.*)$/s, '数据库已损坏：$1'],
  [
    /^(?:at least )?(\d+) acknowledged commits? \w+ missing from the database, with (\d+) records?.*\. Do this: .*$/s,
    '数据库缺少 $1 次已确认的提交，含 $2 条记录。请运行 `tireless restore 目录`，或检查后用 `tireless doctor --fix` 接受损失',
  ],
  [
    /^the undo (\S+) of (.+?) is half done: changed back: (.*); not changed back: (.*)\. Do this: .*$/s,
    `$2 的撤销只做了一半：已改回 $3；没有改回 $4。${END_UNDO}`,
  ],
  [/^the undo (\S+) of (.+?) is half done: it was interrupted\. Do this: .*$/s, `$2 的撤销中断在一半。${END_UNDO}`],
  [/^the undo (\S+) of (.+?) is half done: (.*)\. Do this: .*$/s, `$2 的撤销只做了一半（$3）。${END_UNDO}`],
  [/^the last (\d+) looks of the resident (\S+) failed: (.*)$/s, '常驻者 $2 最近 $1 次看都失败了：$3'],
  [/^the disk of the home is full \((\d+) MB free\)\. Do this: .*$/, '主目录所在的磁盘已满（剩余 $1 MB）。请腾出空间'],
  [
    /^the channel (\S+) has been disconnected for (\d+) min: (.*)\. Do this: (.*)$/s,
    '通道 $1 已断开 $2 分钟：$3。请运行：$4',
  ],
  [
    /^(\d+) stored rows? cannot be read: (.*)\. Do this: .*$/s,
    '有 $1 条存储的记录无法读取：$2。请运行 `tireless doctor --fix` 把它们移到一边；不会删除任何东西',
  ],
  [
    /^the provider (\S+) refuses its key; set the right one, then run (.*)$/,
    '服务商 $1 拒绝了它的密钥；请设置正确的密钥，再运行 $2',
  ],
  [
    /^A background operation of the program or of a plugin failed \((.*)\)\. See tireless logs, then restart\.$/s,
    '程序或插件的后台操作失败（$1）。请看 tireless logs，然后重启。',
  ],
  [/^A background operation that a call had started failed \((.*)\)\.$/s, '某个调用启动的后台操作失败（$1）。'],
  [
    /^(.*): clean-up after a crash failed; do not use git there yet \((.*)\)$/s,
    '$1：崩溃后的清理失败；请先不要在那里用 git（$2）',
  ],
  [
    /^(.*): a crash interrupted a command; moved out of the workspace, because .* protected files: (.*)$/s,
    '$1：一条命令因崩溃中断；智能体不得写入的受保护文件已移出工作区：$2',
  ],
]

const DEGRADED: readonly (readonly [RegExp, string])[] = [
  [
    /^bash is disabled: no sandbox works here \((.*)\)\. Run tireless doctor, or .*$/s,
    'bash 已停用：这里没有可用的沙箱（$1）。请运行 tireless doctor，或设置 `sandbox: off`，让智能体以你的权限运行命令。',
  ],
  [
    /^(\d+) parked runs? needs? the behaviour (\S+), which is missing\. Add it, or cancel them: (.*)$/,
    '有 $1 个暂停的运行需要缺失的行为 $2。请补上它，或取消这些运行：$3',
  ],
  [
    /^the changed configuration is invalid; the last valid one stays in use: (.*)$/s,
    '改动后的配置无效，仍使用上一份有效的配置：$1',
  ],
  [/^(.*) could not be written; the current (.*) is in (.*)$/s, '$1 无法写入；当前的 $2 在 $3'],
  [
    /^the skill (\S+) changed after its approval and is disabled\. Review it with .*$/s,
    '技能 $1 在批准后改动过，已停用。请用 `tireless skills scan` 查看，再运行 `tireless skills approve`。',
  ],
  [
    /^the skill (\S+) of (\S+) changed after its approval and is disabled\. Review it with .*$/s,
    '$2 的技能 $1 在批准后改动过，已停用。请用 `tireless skills scan` 查看，再运行 `tireless skills approve`。',
  ],
  [
    /^the skill (\S+) is approved but cannot be used: (.*)\. Review it with .*$/s,
    '技能 $1 已批准但无法使用：$2。请用 `tireless skills scan` 查看，再运行 `tireless skills approve`。',
  ],
  [
    /^(.*) changed after its approval and is disabled\. Review it with .*$/s,
    '$1 在批准后改动过，已停用。请用 `tireless skills scan` 查看，再运行 `tireless skills approve`。',
  ],
  [
    /^(.*) is approved but cannot be used: (.*)\. Review it with .*$/s,
    '$1 已批准但无法使用：$2。请用 `tireless skills scan` 查看，再运行 `tireless skills approve`。',
  ],
  [/^the MCP server (\S+) is down: (.*)$/s, 'MCP 服务器 $1 无法连接：$2'],
  [/^the MCP server (\S+) has no tool (\S+)$/, 'MCP 服务器 $1 没有工具 $2'],
  [
    /^the MCP server (\S+) has a new tool (\S+); disabled until the owner runs: (.*)$/,
    'MCP 服务器 $1 有新工具 $2；你运行 $3 之前它是停用的',
  ],
  [
    /^the MCP server (\S+) has changed the description of its tool (\S+); disabled until the owner runs: (.*)$/,
    'MCP 服务器 $1 改了工具 $2 的说明；你运行 $3 之前它是停用的',
  ],
  [
    /^notices do not go to the chat (.*) of (\S+): it is not paired, .*; if it is yours: (.*); if not: (.*)$/s,
    '通知没有发往 $2 的会话 $1：它没有配对，可能是陌生人的。如果是你的：$3；如果不是：$4',
  ],
]

/** Why a cycle did nothing. */
const IDLE: readonly (readonly [RegExp, string])[] = [
  [/^this beat has already fired$/, '这次节拍已经运行过'],
  [/^stopped before any dispatch was queued$/, '还没有派出任务就停止了'],
  [/^finished earlier work of ([^;]+)$/, '完成了 $1 先前的工作'],
  [/^no agent is due$/, '没有到时间的智能体'],
  [/^no agent is enabled$/, '没有启用的智能体'],
  [/^the planner found nothing to do$/, '规划后没有要做的事'],
  [/^nothing new$/, '没有新情况'],
  [/^nothing new: ([^;]+)$/, '没有新情况：$1'],
  [/^still running: ([^;]+)$/, '仍在运行：$1'],
  [/^cooling down: ([^;]+)$/, '间隔未到：$1'],
  [/^waiting: ([^;]+)$/, '在等待：$1'],
  [/^(\S+): same outcome (\d+) times in a row$/, '$1：连续 $2 次结果相同'],
  [
    /^paused until (\S+), or until (.+) or its own files changes or a message arrives$/,
    '暂停到 $1，或到 $2、它自己的文件有变化或收到消息',
  ],
  [
    /^paused until (\S+), or until (.+), its own files or a watched path changes or a message arrives$/,
    '暂停到 $1，或到 $2、它自己的文件、关注的路径有变化或收到消息',
  ],
  [/^paused until (.+) changes or a message arrives$/, '暂停，直到 $1 有变化或收到消息'],
  [/^run now: (.+)$/, '立即运行：$1'],
]

/** What a parked run waits for. */
const WAITS: readonly (readonly [RegExp, string])[] = [
  [/^scheduled for later$/, '安排在稍后开始'],
  [/^reply$/, '等你答复'],
  [/^another attempt$/, '稍后再试一次'],
  [/^(.+) needs approval\. Run: .*$/s, '$1 需要你的批准'],
  [/^it is unknown whether (\S+) took effect\. Run: .*$/s, '不清楚 $1 是否已经生效，等你确认'],
  [
    /^the behaviour (\S+) is not installed; the run continues after it is installed$/,
    '行为 $1 没有安装；安装后运行会继续',
  ],
  [/^the provider (.+) refuses its key$/, '服务商 $1 拒绝了它的密钥'],
  [/^model_limited: (.*)$/s, '模型限流，稍后重试：$1'],
  [/^model_unavailable: (.*)$/s, '模型暂时不可用，稍后重试：$1'],
  [/^model_timeout: (.*)$/s, '模型超时，稍后重试：$1'],
  [/^model_(?:cut|garbled|empty): (.*)$/s, '模型的回答不完整，稍后重试：$1'],
  [/^budget_busy: (.*)$/s, '余下的预算被其他运行占用，稍后重试：$1'],
  [/^bus_full: (.*)$/s, '未读的内容太多，稍后重试：$1'],
  [/^channel_(?:unavailable|limited): (.*)$/s, '通道暂时不可用，稍后重试：$1'],
  [/^source_unavailable: (.*)$/s, '来源暂时不可用，稍后重试：$1'],
  [/^home_locked: (.*)$/s, '主目录被另一个进程占用，稍后重试：$1'],
  [/^the run that spawned it has ended$/, '派出它的运行已经结束'],
  [/^the run was cancelled$/, '运行已取消'],
]

export const CHINESE_STATES = [...HEALTH, ...DEGRADED, ...IDLE, ...WAITS]
