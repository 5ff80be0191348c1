//! Words for people, in the languages of a report. JSON members stay English.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Language of titles and prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// A word in English and in Chinese.
const WORDS: &[(&str, &str)] = &[
    ("Loom report", "Loom 报告"),
    ("Window", "时间范围"),
    ("Sources", "数据来源"),
    ("Summary", "摘要"),
    ("Source", "来源"),
    ("State", "状态"),
    ("Records", "记录数"),
    ("Note", "说明"),
    ("complete", "完整"),
    ("partial", "部分"),
    ("not observed", "未观测"),
    ("No data in this window", "此时间范围内没有数据"),
    ("Not observed", "未观测"),
    ("Connections", "连接"),
    ("Deliveries", "投递"),
    ("Inbox", "收件箱"),
    ("Agent queues", "智能体队列"),
    ("Connectors", "连接器"),
    ("Pull request queues", "拉取请求队列"),
    ("Turns", "回合"),
    ("Failures", "失败"),
    ("Costs", "成本"),
    ("Integration branch", "集成分支"),
    ("Registry", "扩展注册表"),
    ("Updates", "更新"),
    ("Provider", "平台"),
    ("Account", "账号"),
    ("Enabled", "已启用"),
    ("Events", "事件"),
    ("Refused", "已拒绝"),
    ("Last event", "最近事件"),
    ("Last delivery", "最近投递"),
    ("yes", "是"),
    ("no", "否"),
    ("Parts", "分段"),
    ("Delivered", "已投递"),
    ("Failed", "失败"),
    ("Unknown", "未知"),
    ("Median", "中位数"),
    ("95th percentile", "第 95 百分位"),
    ("Longest", "最长"),
    ("Delivery parts per day", "每日投递分段"),
    ("Delivery latency per day", "每日投递延迟"),
    ("From the order to the receipt", "从下单到回执"),
    ("Stacked by state", "按状态堆叠"),
    ("Items", "条目"),
    ("Messages received", "收到的消息"),
    ("Refusals", "拒绝"),
    ("Refusals by reason", "按原因统计的拒绝"),
    ("Reason", "原因"),
    ("Count", "数量"),
    ("Agent", "智能体"),
    ("Open at the end", "结束时未完成"),
    ("Oldest", "最久"),
    ("Age of the oldest open item", "最久未完成条目的时长"),
    ("At the end of each day", "每日结束时"),
    ("Connector", "连接器"),
    ("Runs", "运行次数"),
    ("Succeeded", "成功"),
    ("Last success", "最近成功"),
    ("Connector runs", "连接器运行"),
    ("Succeeded and failed runs of each connector", "各连接器的成功与失败次数"),
    ("Runtime", "运行时"),
    ("Completed", "完成"),
    ("Other", "其他"),
    ("Code", "代码"),
    ("Where", "位置"),
    ("delivery", "投递"),
    ("Tokens", "词元"),
    ("Money", "金额"),
    ("Tokens per agent", "各智能体的词元"),
    ("As the runtimes reported them", "以运行时报告为准"),
    ("Turns with a report", "有报告的回合"),
    ("Revision", "版本"),
    ("Time", "时间"),
    ("Changed objects", "变更对象"),
    ("none reported", "无报告"),
    ("Delivered parts", "已投递分段"),
    ("Parts not delivered", "未投递分段"),
    ("Parts of unknown fate", "结果未知的分段"),
    ("Connector runs that failed", "失败的连接器运行"),
    ("Turns started", "已开始的回合"),
    ("Items open at the end", "结束时未完成的条目"),
    ("The report has no chart of this size; see the table", "图表过大，请看表格"),
];

impl Lang {
    /// A word of the list above; a word that it does not have stays English.
    pub(crate) fn word(self, english: &str) -> String {
        let found = WORDS.iter().find(|(known, _)| *known == english);
        match (self, found) {
            (Lang::Zh, Some((_, chinese))) => (*chinese).to_owned(),
            _ => english.to_owned(),
        }
    }
}

/// Title of a report.
pub(crate) fn title(lang: Lang, profile: &str) -> String {
    format!("{}: {profile}", lang.word("Loom report"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_once() {
        let mut words: Vec<&str> = WORDS.iter().map(|(english, _)| *english).collect();
        words.sort_unstable();
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(WORDS.iter().all(|(_, chinese)| !chinese.is_ascii()));
        assert_eq!((Lang::Zh.word("Turns"), Lang::Zh.word("x")), ("回合".into(), "x".into()));
    }
}
