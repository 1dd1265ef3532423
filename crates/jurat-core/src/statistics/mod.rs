//! How certain a metric is.
//!
//! A pass rate over twenty cases and one over twenty thousand look alike; the interval around them does not. Everything here is a
//! plain function of counts and values: nothing is drawn at random, nothing depends on the order in which cases finished.
//!
//! What cannot be computed from an input is `None`, never a number that looks like one: no interval of one cluster, no rate of no judgement.

mod agreement;
mod amount;
mod bootstrap;
mod cluster;
mod confidence;
mod corrected;
mod evidence;
mod flips;
mod interval;
mod mean;
mod order;
mod paired;
mod power;
mod quantile;
mod repeated;
mod several;
mod special;
mod stratified;
mod sum;
mod unpaired;

pub use agreement::{
    Ac1, Alpha, Confusion, Kappa, LabelScore, Level, Share, Weights, cohen_kappa, gwet_ac1, krippendorff_alpha,
    label_scores, weighted_ac1, weighted_alpha,
};
pub use amount::{amount_mean, amount_ratio};
pub use bootstrap::bca;
pub use cluster::{
    ClusterMean, ClusterVariance, Clusters, EffectiveDifference, EffectiveRate, PooledDifference, Ratio, RowTally,
    cluster_mean, effective_difference, effective_rate, effective_rate_counted, pooled_difference, ratio_of_means,
};
pub use confidence::{Confidence, Side};
pub use corrected::{
    Corrected, EffectiveRecord, EffectiveTally, JudgeRecord, PpiMean, RoganGladen, Stratum, labelled_interval,
    poststratified, ppi_mean, rogan_gladen, rogan_gladen_difference, rogan_gladen_difference_effective,
    rogan_gladen_effective,
};
pub use evidence::{
    Beyond, MeanBets, PairedBets, RateEvidence, cs_empirical_bernstein, cs_mean, cs_rate, cs_share, e_mean, e_paired,
    e_rate, e_share, hedged_capital,
};
pub use flips::{FlipMethod, SignFlip, Wilcoxon, sign_flip, wilcoxon};
pub use interval::{Interval, clopper_pearson, wilson};
pub use mean::mean_interval;
pub use order::{QuantileInterval, quantile_interval};
pub use paired::{
    Difference, FlipOdds, MarginTest, McNemar, PairedDifference, Pairs, Word, flip_odds, joined, mcnemar,
    newcombe_paired, paired_difference, tango, tango_test,
};
pub use power::{
    MOST_ROWS, MorePairs, RowsNeeded, Towards, mde_mean, mde_paired, more_pairs, pairs_needed, pairs_needed_not_worse,
    power_paired, rows_needed,
};
pub use quantile::quantile;
pub use repeated::{Repeats, VarianceComponents, is_flaky, pass_all_k, pass_at_k, repeats, variance_components};
pub use several::{benjamini_hochberg, holm, tiers};
pub use special::{beta_cdf, beta_quantile, normal_quantile, normal_sf, student_quantile, student_two_sided};
pub use stratified::{Jackknife, StratumUnits, stratified_jackknife, wilson_effective};
pub use unpaired::{Tally, fisher, newcombe_unpaired};
